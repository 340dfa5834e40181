package eventlog

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// cause is the cause of a problem with all that it affects in one reconciliation.
type cause struct {
	// key is the same for causes that differ only in the resource.
	key string
	// matters and texts have one entry for each affected resource.
	matters, texts []string
	// resources are the affected resources after the first, which related refers to.
	resources []string
	related   *corev1.ObjectReference
	reason    string
	err       error
}

// maxResources is the number of further resources that the note of a Warning names.
const maxResources = 3

// note returns the text of the Warning: the first error, and the other resources that have it.
func (c *cause) note() string {
	named := c.resources[:min(len(c.resources), maxResources)]
	switch more := len(c.resources) - len(named); {
	case more > 0:
		return fmt.Sprintf("%s; the same for %s and %d more", c.texts[0], strings.Join(named, ", "), more)
	case len(named) > 0:
		return c.texts[0] + "; the same for " + strings.Join(named, ", ")
	}
	return c.texts[0]
}

// groupCauses returns the causes of an outcome that are worth a Warning, in the order of the graph.
func groupCauses(outcome arm.Outcome) (out []*cause) {
	of := map[string]*cause{}
	for _, result := range outcome.Results {
		if result.Err == nil || !isReportable(result.Err) {
			continue
		}
		reason := status.ResultReason(result)
		key := causeKey(reason, result.ID, result.Err)
		if of[key] == nil {
			of[key] = &cause{key: key, related: resourceReference(result.ID), reason: reason, err: result.Err}
			out = append(out, of[key])
		} else {
			of[key].resources = append(of[key].resources, result.ID.ShortName())
		}
		of[key].matters, of[key].texts = append(of[key].matters, result.ID.Key()), append(of[key].texts, result.Err.Error())
	}
	return out
}

// ofResource matches the parts of an error that name its resource: IDs, and types with an action.
var ofResource = regexp.MustCompile(`(?i)/subscriptions/[^\s'",;]+|\bMicrosoft\.\w+(/\w+)+`)

// causeKey returns a key that is the same for errors with the same cause: for the same answer of Azure to requests about several resources,
// whatever the provider did when it got the answer, and for the same text about several resources.
func causeKey(reason string, id arm.ID, err error) string {
	key := err.Error()
	var azure *arm.Error
	if errors.As(err, &azure) {
		id, key = azure.ID, fmt.Sprint(azure.Status, azure.Code, azure.Message, azure.Details)
	}
	key = ofResource.ReplaceAllString(key, "*")
	for _, name := range []string{id.ShortName(), id.Name()} {
		// A single letter is too likely to be part of a word.
		if len(name) > 1 {
			key = strings.ReplaceAll(key, name, "*")
		}
	}
	return reason + " " + key
}
