package scenario

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a request in the API server's audit log: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
type entry struct {
	Verb, RequestURI string
	User             struct{ Username string }
	ObjectRef        struct{ APIGroup, Resource, Subresource, Name string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
	StageTimestamp   time.Time
	// ResponseObject is there for writes of objects of the provider, and of events.
	ResponseObject map[string]any
}

// neededRight returns the right that the request needs, as "verb resource.group/subresource".
func (e entry) neededRight() string {
	what := e.ObjectRef.Resource
	if what == "" {
		return e.Verb + " " + e.RequestURI
	}
	if e.ObjectRef.APIGroup != "" {
		what += "." + e.ObjectRef.APIGroup
	}
	if e.ObjectRef.Subresource != "" {
		what += "/" + e.ObjectRef.Subresource
	}
	return e.Verb + " " + what
}

// auditedRequests returns the requests of the ServiceAccounts of the managers since the story began.
func (l *lab) auditedRequests() []entry {
	l.t.Helper()
	file, err := os.Open(filepath.Join(l.dir, "logs", "audit.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the API server was never started
	}
	if err != nil {
		l.t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(int64(l.seenAudit), io.SeekStart); err != nil {
		l.t.Fatal(err)
	}
	var out []entry
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the end of a line that is being written
		}
		out = append(out, e)
	}
	return out
}

// withoutRights does what takes rights away from managers, which may be refused something meanwhile.
func (l *lab) withoutRights(do func()) {
	l.t.Helper()
	from := len(l.auditedRequests())
	do()
	l.excused = append(l.excused, [2]int{from, len(l.auditedRequests())})
}

// expectRights fails the story for every right that a manager did not have. A namespace on its way out and a webhook refuse
// with the same status, and are no matter of rights.
func (l *lab) expectRights() {
	l.t.Helper()
	refused := map[string]bool{}
	for i, e := range l.auditedRequests() {
		if slices.ContainsFunc(l.excused, func(span [2]int) bool { return span[0] <= i && i < span[1] }) {
			continue
		}
		if e.Annotations["authorization.k8s.io/decision"] == "forbid" {
			refused[e.User.Username+": "+e.neededRight()] = true
		}
	}
	if len(refused) > 0 {
		l.t.Errorf("rights that the releases do not give:\n%s", strings.Join(slices.Sorted(maps.Keys(refused)), "\n"))
	}
}
