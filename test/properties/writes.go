package properties

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	// ownershipPrefix begins the ownership tag of a cluster.
	ownershipPrefix = "sigs.k8s.io_cluster-api-provider-azure_cluster_"
	// maxWritesOfKind is how many writes a manager may have under way at the same time for each kind of its objects: by default it reconciles ten
	// objects of a kind at once, and thirty AzureMachines, which is more than a history has. A history without objects may have the writes of
	// the three kinds of a cluster.
	maxWritesOfKind, kindsOfCluster = 10, 3
	// maxReads is how many reads of one path a manager may send in a minute of Azure.
	maxReads = 60
)

var writeProperties = []Property{
	{"DeleteHasProof", "A resource of another owner is never deleted.", findDeletesWithoutProof},
	{"WriteHasFinalizer", "Without a finalizer, a resource stays behind when its object is deleted.", findWritesWithoutFinalizer},
	{"WriteIsValid", "Azure never takes a body that it answers with 400.", findInvalidWrites},
	{"OneWritePerResource", "The second of two writes at the same time fails or undoes the first one.", findWritesAtOnce},
	{"WritesAreBounded", "Azure throttles a principal that sends many writes at once.", findManyWrites},
	{"UnchangedBodyIsNotSent", "A write without effect uses write quota, and can restart VMs or AKS nodes.", findUnchangedBodies},
	{"RetryAfterIsKept", "A request before that time is throttled again, and extends the time.", findEarlyRetries},
	{"ReadsAreBounded", "Reads in a loop use up the read quota of the subscription.", findManyReads},
	{"VMIsCreatedOnce", "A Machine has one VM, which is not replaced.", findSecondVMs},
	{"RequestHasVersion", "Azure refuses requests without api-version.", findRequestsWithoutVersion},
	{"RequestHasUserAgent", "Support and logs find the provider's requests by it.", findRequestsWithoutUserAgent},
}

// requests calls a function with each request.
func (t *timeline) requests(call func(i int, r *Request)) {
	for i, step := range t.Steps {
		if step.Request != nil {
			call(i, step.Request)
		}
	}
}

func findDeletesWithoutProof(t *timeline) (out []string) {
	created := map[string]bool{}
	t.requests(func(_ int, r *Request) {
		before := stateBefore(t.resources[r.Path], r.Begun)
		if r.Method == "PUT" && before == nil && r.succeeded() {
			created[r.Path] = true
		}
		if r.Method != "DELETE" || before == nil || created[r.Path] || t.hasOwnershipTag(r.Path, r.Begun) {
			return
		}
		out = append(out, "DELETE "+r.Path+" without an ownership tag of it or of a resource that contains it")
	})
	return out
}

// hasOwnershipTag reports whether a resource, or one that contains it, has the ownership tag of a cluster of the history before a step. Any tag will
// do in a history without objects.
func (t *timeline) hasOwnershipTag(id string, step int) bool {
	clusters := t.clusterNames()
	for ; len(id) > 1; id = id[:max(0, strings.LastIndexByte(id, '/'))] {
		tags, _ := find(stateBefore(t.resources[id], step), "tags").(map[string]any)
		for key, value := range tags {
			cluster, is := strings.CutPrefix(key, ownershipPrefix)
			if is && value == "owned" && (len(t.objects) == 0 || slices.Contains(clusters, cluster)) {
				return true
			}
		}
	}
	return false
}

func findWritesWithoutFinalizer(t *timeline) (out []string) {
	if len(t.objects) == 0 {
		return nil
	}
	t.requests(func(_ int, r *Request) {
		if !r.isWrite() || r.Method == "DELETE" {
			return
		}
		for key, versions := range t.objects {
			if holds(r.Path, key.kind, stateBefore(versions, r.Begun)) {
				return
			}
		}
		out = append(out, r.Method+" "+r.Path+" while the object that it belongs to has no finalizer")
	})
	return out
}

func findInvalidWrites(t *timeline) (out []string) {
	t.requests(func(_ int, r *Request) {
		// A DELETE has no body: Azure refuses to delete the last System pool of a cluster whose deletion the manager has not seen yet.
		if r.isWrite() && r.Method != "DELETE" && r.Status == 400 {
			out = append(out, r.Method+" "+r.Path+" was answered with 400")
		}
	})
	return out
}

func findWritesAtOnce(t *timeline) (out []string) {
	t.requests(func(i int, r *Request) {
		if !r.isWrite() {
			return
		}
		for j := r.Sent; j < i; j++ {
			other := t.Steps[j].Request
			if other != nil && other.isWrite() && other.Path == r.Path && other.Manager == r.Manager {
				out = append(out, fmt.Sprintf("%s was sent while %s %s was under way", r.Method, other.Method, r.Path))
			}
		}
	})
	return out
}

func findManyWrites(t *timeline) (out []string) {
	kinds := map[string]bool{}
	for key := range t.objects {
		if strings.HasPrefix(key.kind, "Azure") && !strings.HasSuffix(key.kind, "Template") && !strings.HasSuffix(key.kind, "Identity") {
			kinds[key.kind] = true
		}
	}
	most := maxWritesOfKind * max(kindsOfCluster, len(kinds))
	t.requests(func(i int, r *Request) {
		if !r.isWrite() {
			return
		}
		inFlight := 1
		for j := i + 1; j < len(t.Steps); j++ {
			if other := t.Steps[j].Request; other != nil && other.isWrite() && other.Manager == r.Manager && other.Sent <= i {
				inFlight++
			}
		}
		if inFlight > most {
			out = append(out, fmt.Sprintf("%d writes of a manager were under way, with %d kinds of objects", inFlight, len(kinds)))
		}
	})
	return out
}

func findUnchangedBodies(t *timeline) (out []string) {
	last := map[string]int{}
	t.requests(func(i int, r *Request) {
		if r.Method != "PUT" || !r.isARM() {
			return
		}
		if j, sent := last[r.Path]; sent {
			before := t.Steps[j].Request
			isReceived := before.succeeded() && !before.Lost && before.Manager == r.Manager
			was, now := stateBefore(t.resources[r.Path], j+1), stateBefore(t.resources[r.Path], r.Begun)
			if isReceived && before.Body == r.Body && now != nil && isDone(now) && reflect.DeepEqual(lasting(was), lasting(now)) &&
				!t.met(before.Begun, i, StaleAnswer, StaleRead, LostAnswer, ServerError) {
				out = append(out, "PUT "+r.Path+" repeats a body that Azure has")
			}
		}
		last[r.Path] = i
	})
	return out
}

// isDone reports whether the last operation of a resource has succeeded.
func isDone(body map[string]any) bool {
	state := find(body, "properties.provisioningState")
	return state == nil || state == "Succeeded"
}

// lasting returns the properties of a resource that only writes change.
func lasting(body map[string]any) any {
	var strip func(any) any
	strip = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			out := map[string]any{}
			for key, inner := range v {
				if key != "provisioningState" && key != "etag" {
					out[key] = strip(inner)
				}
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = strip(v[i])
			}
			return out
		}
		return value
	}
	return strip(body)
}

func findEarlyRetries(t *timeline) (out []string) {
	type key struct {
		manager      int
		method, path string
	}
	type refusal struct {
		step  int
		until time.Time
	}
	last := map[key]refusal{}
	t.requests(func(i int, r *Request) {
		k := key{r.Manager, r.Method, r.Path}
		refused, known := last[k]
		// A request that was sent before the answer could not know of it.
		if known && r.Sent > refused.step && r.SentAt.Before(refused.until) {
			out = append(out, fmt.Sprintf("%s %s was sent %s too early", r.Method, r.Path, refused.until.Sub(r.SentAt)))
		}
		if r.Status == 429 && !r.Lost {
			last[k] = refusal{i, t.Steps[i].At.Add(r.RetryAfter)}
		}
	})
	return out
}

func findManyReads(t *timeline) (out []string) {
	sent := map[string][]time.Time{}
	t.requests(func(_ int, r *Request) {
		if r.Method != "GET" || !r.isARM() {
			return
		}
		key := fmt.Sprint(r.Manager, r.Path)
		recent := slices.DeleteFunc(sent[key], func(at time.Time) bool { return r.SentAt.Sub(at) > t.scaleDuration(time.Minute) })
		if sent[key] = append(recent, r.SentAt); len(sent[key]) == maxReads+1 {
			out = append(out, fmt.Sprintf("GET %s was sent more than %d times in a minute of Azure", r.Path, maxReads))
		}
	})
	return out
}

func findSecondVMs(t *timeline) (out []string) {
	created := map[string]int{}
	t.requests(func(_ int, r *Request) {
		if r.Method != "PUT" || !strings.Contains(r.Path, "/providers/microsoft.compute/virtualmachines/") ||
			stateBefore(t.resources[r.Path], r.Begun) != nil || !r.succeeded() {
			return
		}
		created[r.Path]++
		machines := 0
		for _, step := range t.Steps {
			if o := step.Object; o != nil && o.Kind == "AzureMachine" && o.Before == nil && strings.HasSuffix(r.Path, "/"+strings.ToLower(o.Name)) {
				machines++
			}
		}
		if machines > 0 && created[r.Path] > machines {
			out = append(out, fmt.Sprintf("%s was created %d times for %d AzureMachines", r.Path, created[r.Path], machines))
		}
	})
	return out
}

func findRequestsWithoutVersion(t *timeline) (out []string) {
	t.requests(func(_ int, r *Request) {
		if r.isARM() && !strings.Contains(r.Query, "api-version=") {
			out = append(out, r.Method+" "+r.Path+" has no api-version")
		}
	})
	return out
}

func findRequestsWithoutUserAgent(t *timeline) (out []string) {
	t.requests(func(_ int, r *Request) {
		if r.isARM() && !strings.Contains(r.UserAgent, "cluster-api-provider-azure") {
			out = append(out, r.Method+" "+r.Path+" has the User-Agent "+r.UserAgent)
		}
	})
	return out
}

// encode returns a value as JSON.
func encode(value any) string {
	raw, _ := json.Marshal(value) // Decoded JSON always marshals.
	return string(raw)
}
