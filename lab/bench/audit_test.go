package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// auditLine returns a line of the audit log.
func auditLine(id, verb, stage, user, agent, resource, at string) string {
	return `{"kind":"Event","auditID":"` + id + `","stage":"` + stage + `","verb":"` + verb + `","user":{"username":"system:serviceaccount:` + user +
		`"},"userAgent":"` + agent + `","objectRef":{"resource":"` + resource + `"},"requestReceivedTimestamp":"2026-01-01T12:00:` + at + `Z"}` + "\n"
}

func TestCountCalls(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		// The API server puts parts of the log aside.
		"audit-2026-01-01T12-00-00.000.jsonl": auditLine("0", "get", "ResponseComplete", "a:ours", "manager/v2", "secrets", "00.500000"),
		"audit.jsonl": auditLine("1", "watch", "ResponseStarted", "a:ours", "manager/v2", "secrets", "01.000000") +
			auditLine("1", "watch", "ResponseComplete", "a:ours", "manager/v2", "secrets", "01.000000") +
			auditLine("2", "patch", "ResponseComplete", "a:ours", "manager/v2", "azureclusters", "02.000000") +
			auditLine("3", "patch", "ResponseComplete", "a:second", "other/v1", "azureclusters", "02.000000") +
			auditLine("4", "patch", "ResponseComplete", "b:theirs", "core/v1", "clusters", "02.000000") +
			auditLine("5", "create", "ResponseComplete", "a:ours", "manager/v2", "tokenreviews", "02.000000") +
			strings.Replace(auditLine("8", "patch", "ResponseComplete", "person", "kubectl/v1", "azureclusters", "02.000000"), "system:serviceaccount:", "", 1) +
			auditLine("6", "create", "ResponseComplete", "a:ours", "manager/v2", "events", "59.000000") +
			`{"kind":"Event","auditID":"7","ver`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := readAudit(filepath.Join(folder, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	const ours, second, theirs = "system:serviceaccount:a:ours", "system:serviceaccount:a:second", "system:serviceaccount:b:theirs"
	got := countCalls(calls, span{noon, noon.Add(30 * time.Second)}, []string{ours, second})
	want := Kubernetes{
		Verbs: map[string]int{"get": 1, "watch": 1, "patch": 2},
		Callers: map[string]map[string]map[string]int{
			ours: {"manager": {"get": 1, "watch": 1, "patch": 1}}, second: {"other": {"patch": 1}}, theirs: {"core": {"patch": 1}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got.CountReads() != 2 || got.CountWrites() != 2 {
		t.Errorf("%d reads and %d writes, want 2 each", got.CountReads(), got.CountWrites())
	}
}

func TestLastWrite(t *testing.T) {
	calls, err := decodeAudit(strings.NewReader(auditLine("0", "patch", "ResponseComplete", "b:theirs", "core/v1", "customresourcedefinitions",
		"04.000000") +
		auditLine("1", "create", "ResponseComplete", "a:ours", "manager/v2", "events", "03.000000") +
		auditLine("2", "update", "ResponseComplete", "a:ours", "manager/v2", "leases", "07.000000") +
		auditLine("3", "create", "ResponseComplete", "a:ours", "manager/v2", "subjectaccessreviews", "08.000000") +
		auditLine("4", "watch", "ResponseStarted", "a:ours", "manager/v2", "secrets", "09.000000")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lastWrite(calls), noon.Add(4*time.Second); !got.Equal(want) {
		t.Errorf("last write at %v, want %v: the renewal of a lease, a review and a watch are none", got, want)
	}
}
