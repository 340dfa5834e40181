package scenario

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// entry is a request in the API server's audit log: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
type entry struct {
	Verb, RequestURI string
	User             struct{ Username string }
	ObjectRef        struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
	// RequestReceivedTimestamp is when the API server received the request.
	RequestReceivedTimestamp time.Time
	// ResponseObject is set for writes of Clusters, of objects of the provider, and of events.
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

// auditedRequests returns the requests since the story began: those of the ServiceAccounts of the managers, and the writes of anyone to Clusters and
// to objects of the provider.
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
	out, err := readAudit(file)
	if err != nil {
		l.t.Fatalf("audit log: %v", err)
	}
	return out
}

// readAudit reads an audit log. Its last line is left out if it is still being written.
func readAudit(in io.Reader) (out []entry, _ error) {
	// A response can be as large as etcd takes, 1.5 MiB by default, and JSON in JSON is larger. So a line has no limit here.
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%w: %.200s", err, line)
		}
		out = append(out, e)
	}
}

// checkAudited returns an error if a manager has written to Azure, and the audit log has no request of its ServiceAccount: then the log does
// not show the rights that managers lack.
func checkAudited(requests []request, entries []entry) error {
	wrote := slices.ContainsFunc(requests, func(r request) bool {
		return r.isWrite() && r.Status < 300 && strings.Contains(r.UserAgent, "cluster-api-provider-azure")
	})
	if wrote && !slices.ContainsFunc(entries, entry.isByManager) {
		return fmt.Errorf("the audit log has %d requests, and none of the manager, which has written to Azure", len(entries))
	}
	return nil
}

// isByAccount reports whether a ServiceAccount sent the request, and not a person.
func (e entry) isByAccount() bool {
	return strings.HasPrefix(e.User.Username, "system:serviceaccount:")
}

// isByManager reports whether a manager of the provider sent the request.
func (e entry) isByManager() bool { return strings.HasSuffix(e.User.Username, ":capz-manager") }

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
	for _, right := range missingRights(l.auditedRequests(), l.excused) {
		l.t.Errorf("a right that the releases do not give: %s", right)
	}
}

// missingRights returns the rights that managers did not have, except for those in spans of entries.
func missingRights(entries []entry, excused [][2]int) []string {
	refused := map[string]bool{}
	for i, e := range entries {
		if slices.ContainsFunc(excused, func(span [2]int) bool { return span[0] <= i && i < span[1] }) {
			continue
		}
		if e.Annotations["authorization.k8s.io/decision"] == "forbid" && e.isByAccount() {
			refused[e.User.Username+": "+e.neededRight()] = true
		}
	}
	return slices.Sorted(maps.Keys(refused))
}

// TestReadAudit finds a forbidden request after an entry of 2 MiB, and fails for a line that is no entry.
func TestReadAudit(t *testing.T) {
	const manager = `"user":{"username":"system:serviceaccount:capz-system:capz-manager"}`
	large := `{"verb":"patch",` + manager + `,"responseObject":{"kind":"AzureCluster","note":"` + strings.Repeat("x", 2<<20) + `"}}`
	forbidden := `{"verb":"get",` + manager + `,"objectRef":{"resource":"pods"},"annotations":{"authorization.k8s.io/decision":"forbid"}}`
	entries, err := readAudit(strings.NewReader(large + "\n" + forbidden + "\n" + `{"verb":"li`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"system:serviceaccount:capz-system:capz-manager: get pods"}
	if diff := cmp.Diff(want, missingRights(entries, nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := missingRights(entries, [][2]int{{1, 2}}); len(got) > 0 {
		t.Errorf("the span of the request is excused: %q", got)
	}
	if _, err := readAudit(strings.NewReader("{\n")); err == nil {
		t.Error("a line that is no entry is ignored")
	}

	for _, agent := range []string{"cluster-api-provider-azure/v2", "lab"} {
		wrote := []request{{Method: http.MethodPut, URL: "/subscriptions/s/resourceGroups/g", Status: 201, UserAgent: agent}}
		others := []entry{{}}
		others[0].User.Username = "system:serviceaccount:capi-system:capi-manager"
		if err := checkAudited(wrote, others); (err != nil) != (agent != "lab") {
			t.Errorf("%s wrote to Azure, and the log has nothing of the manager: %v", agent, err)
		}
		if err := checkAudited(wrote, entries); err != nil {
			t.Error(err)
		}
	}
}
