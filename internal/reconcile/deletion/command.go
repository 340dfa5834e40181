package deletion

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// maxIDs limits how many resources a command lists by ID. A command for more of them selects by tag, so that it is always complete.
const maxIDs = 40

// plainNamePattern matches names that need no quotes in a query. In Azure only DNS names in other scripts and resource groups have
// other characters.
var plainNamePattern = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// removalCommand returns a shell command that deletes the remaining resources of the object in Azure. It never relies on the object's
// content alone, which users write: IDs were found in Azure to be the object's, and other resources are selected by tag.
func (h Blocker) removalCommand() string {
	left := outermostResources(h.Remaining)
	if len(left) > 0 && len(left) <= maxIDs {
		return RemovalCommand(left)
	}
	tag := arm.ShellQuote(h.TagKey + "=" + h.TagValue)
	subscription := ""
	if h.Subscription != "" {
		subscription = " --subscription " + arm.ShellQuote(h.Subscription)
	}
	var commands []string
	if h.OwnsAllTagged {
		commands = append(commands,
			fmt.Sprintf(`for g in $(az group list%s --tag %s --query "[].name" --output tsv); do az group delete%s --yes --name "$g"; done`,
				subscription, tag, subscription))
	}
	query := "[].id"
	if !h.OwnsAllTagged {
		var names []string
		for _, name := range h.ResourceNames {
			if plainNamePattern.MatchString(name) && !slices.Contains(names, "'"+name+"'") {
				names = append(names, "'"+name+"'")
			}
		}
		query = "[?contains([" + strings.Join(names, ",") + "], name)].id"
	}
	child := ""
	if h.ChildPath != "" {
		child = "/" + h.ChildPath
	}
	return strings.Join(append(commands,
		fmt.Sprintf(`for id in $(az resource list%s --tag %s --query "%s" --output tsv); do az resource delete --ids "$id"%s; done`, subscription,
			tag, query, arm.ShellQuote(child))), "; ")
}

// RemovalCommand returns a shell command that deletes resources, resource groups last.
func RemovalCommand(ids []arm.ID) string {
	var single, groups []string
	for _, id := range ids {
		if id.Type() == arm.ResourceGroupType {
			groups = append(groups, fmt.Sprintf("az group delete --subscription %s --yes --name %s", arm.ShellQuote(id.Subscription()),
				arm.ShellQuote(id.Name())))
		} else {
			single = append(single, arm.ShellQuote(string(id)))
		}
	}
	var commands []string
	if len(single) > 0 {
		commands = append(commands, "az resource delete --ids "+strings.Join(single, " "))
	}
	return strings.Join(append(commands, groups...), " && ")
}

// outermostResources drops resources below another resource of the list, which are deleted with it.
func outermostResources(ids []arm.ID) (out []arm.ID) {
	for _, id := range ids {
		if !slices.ContainsFunc(ids, func(other arm.ID) bool { return id.IsWithin(other) && !id.Equal(other) }) &&
			!slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	return out
}
