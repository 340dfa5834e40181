package properties

import "strings"

var secretProperties = []Property{
	{"SecretsAreNotInObjects", "Users who may read objects may not read Secrets.", findSecretsInObjects},
	{"SecretsAreNotInEvents", "Events are kept in logs.", findSecretsInEvents},
	{"SecretsAreNotInAzure", "Azure shows bodies and URLs to readers of the subscription.", findSecretsInRequests},
}

// holds reports whether a text has a secret.
func (t *timeline) holds(text string) bool {
	for _, secret := range t.Secrets {
		if secret != "" && strings.Contains(text, secret) {
			return true
		}
	}
	return false
}

func findSecretsInObjects(t *timeline) (out []string) {
	for _, step := range t.Steps {
		if o := step.Object; o != nil && o.ByManager && o.Kind != "Secret" && o.After != nil && t.holds(encode(o.After)) {
			out = append(out, o.String()+" has a secret")
		}
	}
	return out
}

func findSecretsInEvents(t *timeline) (out []string) {
	for _, step := range t.Steps {
		if step.Event != nil && t.holds(step.Event.Note) {
			out = append(out, "an event of "+step.Event.Kind+" "+step.Event.Name+" has a secret")
		}
	}
	return out
}

func findSecretsInRequests(t *timeline) (out []string) {
	t.requests(func(_ int, r *Request) {
		if r.isARM() && (t.holds(r.Body) || t.holds(r.Path) || t.holds(r.Query)) {
			out = append(out, r.Method+" "+r.Path+" has a secret")
		}
	})
	return out
}
