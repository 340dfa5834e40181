package virtual

import (
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// listAction is a POST that only returns values.
var listAction = regexp.MustCompile(`^POST .*/list[A-Za-z]*$`)

// SentWrites returns the requests since a mark that change Azure.
func (s *Scenario) SentWrites(since harness.Mark) []string {
	return slices.DeleteFunc(s.Azure.WritesSince(since), listAction.MatchString)
}

// IntendedWrites returns the writes in a condition Drifted as it lists them.
func IntendedWrites(drifted metav1.Condition) []string {
	_, list, found := strings.Cut(drifted.Message, "the manager will: ")
	if !found || drifted.Status != metav1.ConditionTrue {
		return nil
	}
	return strings.Split(list, "; ")
}

// ListIntended returns the writes in conditions Drifted in the form of ListSent: as "write virtualnetworks/v", "delete virtualnetworks/v" or
// "request virtualmachines/v/deallocate", sorted and each once.
func ListIntended(conditions ...metav1.Condition) (out []string) {
	for _, drifted := range conditions {
		for _, line := range IntendedWrites(drifted) {
			words := strings.Fields(line)
			verb, name := words[0], words[1]
			switch verb {
			case "create", "update":
				verb = "write"
			case "request":
				name = words[3] + "/" + name
			}
			out = append(out, verb+" "+strings.ToLower(name))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ListSent returns the requests since a mark that change Azure, in the form of ListIntended.
func (s *Scenario) ListSent(since harness.Mark) (out []string) {
	for _, write := range s.SentWrites(since) {
		method, path, _ := strings.Cut(write, " ")
		path = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(path, "/Microsoft.Resources/tags/default"), "/providers"))
		verb, parts := "write", strings.Split(path, "/")
		name := strings.Join(parts[len(parts)-2:], "/")
		switch method {
		case "DELETE":
			verb = "delete"
		case "POST":
			verb, name = "request", strings.Join(parts[len(parts)-3:], "/")
		}
		out = append(out, verb+" "+name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
