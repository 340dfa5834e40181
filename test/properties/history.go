// Package properties has the named properties of the provider. A property of Always holds in each history of requests, resources and objects. An
// entry of Sometimes is a failure, such as a lost answer, that a long exploration has to meet. Histories come from explored lives in virtual time
// and from the logs of a lab. The package is pure, and uses no code of the provider, so that the two do not share faults.
package properties

import (
	"strings"
	"time"
)

// History has the requests, changes and events of a scenario, in their order.
type History struct {
	Steps []Step
	// Secrets are values that may be in Secrets and requests for tokens only.
	Secrets []string
	// TimeScale is the factor from Azure's durations to the times of steps: 0.05 if Azure runs twenty times as fast. 0 means 1.
	TimeScale float64
}

// Step is one request, change, event or failure. One field besides At is set.
type Step struct {
	At time.Time
	// Request is a request of a manager to Azure that has ended.
	Request *Request
	// Resource is a resource in Azure that has changed.
	Resource *Resource
	// Object is an object in Kubernetes that has changed.
	Object *Object
	// Event is an event that a manager recorded.
	Event *Event
	// Stable marks a moment at which the managers have nothing left to do: in the resource group StableGroup, or in all if it is "".
	Stable      bool
	StableGroup string
	// Met names a failure, one of Sometimes.
	Met string
}

// Request is a request of a manager to Azure. Requests without an answer have the status 0.
type Request struct {
	// Manager is the number of the manager.
	Manager int
	// Sent and Begun are how many steps there were when the manager sent the request, and when Azure began to carry it out.
	Sent, Begun int
	SentAt      time.Time
	Method      string
	// Path is the path in lower case, Query the query.
	Path, Query string
	UserAgent   string
	Body        string
	Status      int
	RetryAfter  time.Duration
	// Lost is set if the manager did not get the answer.
	Lost bool
}

// Resource is a resource in Azure. A nil body means that it is gone.
type Resource struct {
	// ID is in lower case.
	ID   string
	Body map[string]any
}

// Object is a change of an object. A nil state means that there is no object.
type Object struct {
	Kind, Namespace, Name string
	ByManager             bool
	Before, After         map[string]any
}

// String names the object.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Event is an event about an object.
type Event struct{ Kind, Name, Reason, Note string }

// isWrite reports whether a request changes Azure. To read by POST is no write.
func (r *Request) isWrite() bool {
	return r.isARM() && (r.Method == "PUT" || r.Method == "PATCH" || r.Method == "DELETE" ||
		r.Method == "POST" && !strings.HasPrefix(r.Path[strings.LastIndexByte(r.Path, '/')+1:], "list"))
}

// isARM reports whether a request is for Azure Resource Manager.
func (r *Request) isARM() bool { return strings.HasPrefix(r.Path, "/subscriptions/") }

// succeeded reports whether Azure accepted the request.
func (r *Request) succeeded() bool { return r.Status >= 200 && r.Status < 300 }

// version is a state of a resource from a step on.
type version struct {
	from int
	body map[string]any
}

// timeline has the states of resources and objects by step.
type timeline struct {
	*History
	resources map[string][]version
	objects   map[objectKey][]version
}

// objectKey names an object of a history.
type objectKey struct{ kind, namespace, name string }

func newTimeline(h *History) *timeline {
	t := &timeline{History: h, resources: map[string][]version{}, objects: map[objectKey][]version{}}
	for i, step := range h.Steps {
		switch {
		case step.Resource != nil:
			t.resources[step.Resource.ID] = append(t.resources[step.Resource.ID], version{i, step.Resource.Body})
		case step.Object != nil:
			key := objectKey{step.Object.Kind, step.Object.Namespace, step.Object.Name}
			t.objects[key] = append(t.objects[key], version{i, step.Object.After})
		}
	}
	return t
}

// stateBefore returns the last of versions before a step; nil if there is none.
func stateBefore(versions []version, step int) map[string]any {
	for i := len(versions) - 1; i >= 0; i-- {
		if versions[i].from < step {
			return versions[i].body
		}
	}
	return nil
}

// scaleDuration converts a duration of Azure to one in the times of steps.
func (t *timeline) scaleDuration(d time.Duration) time.Duration {
	if t.TimeScale == 0 {
		return d
	}
	return time.Duration(float64(d) * t.TimeScale)
}

// met reports whether one of some things went wrong between two steps.
func (t *timeline) met(from, to int, what ...string) bool {
	for _, step := range t.Steps[max(0, from):min(to, len(t.Steps))] {
		for _, each := range what {
			if step.Met == each {
				return true
			}
		}
	}
	return false
}

// find returns the value at a dotted path of an object; nil if there is none.
func find(object map[string]any, dotted string) any {
	var value any = object
	for key := range strings.SplitSeq(dotted, ".") {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[key]
	}
	return value
}
