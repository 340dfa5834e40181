package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Kubernetes are calls to the API server by verb; a watch counts once, when it begins.
type Kubernetes struct {
	// Verbs are those of the provider, with all of its accounts.
	Verbs map[string]int `json:"verbs"`
	// Callers are those of all managers, by account and then by the program's name in the user agent.
	Callers map[string]map[string]map[string]int `json:"callers"`
}

// accountPrefix begins the user name of each ServiceAccount. Writes of people are in the log, too, and are not counted.
const accountPrefix = "system:serviceaccount:"

// writing are the verbs that change something.
var writing = []string{"create", "update", "patch", "delete", "deletecollection"}

// CountWrites and Reads are the provider's calls of each sort.
func (k Kubernetes) CountWrites() (n int) {
	for _, verb := range writing {
		n += k.Verbs[verb]
	}
	return n
}

// CountReads returns the provider's calls that change nothing, with the beginnings of watches.
func (k Kubernetes) CountReads() (n int) { return k.Verbs["get"] + k.Verbs["list"] + k.Verbs["watch"] }

// call is one event of the API server's audit log.
type call struct {
	AuditID   string `json:"auditID"`
	Verb      string `json:"verb"`
	UserAgent string `json:"userAgent"`
	User      struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource string `json:"resource"`
	} `json:"objectRef"`
	Received time.Time `json:"requestReceivedTimestamp"`
}

// readAudit reads the audit log with its parts that the API server has put aside, which have the moment in their names.
func readAudit(path string) ([]call, error) {
	extension := filepath.Ext(path)
	files, err := filepath.Glob(strings.TrimSuffix(path, extension) + "*" + extension)
	if err != nil {
		return nil, err
	}
	var calls []call
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		part, err := decodeAudit(file)
		if err = firstError(err, file.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		calls = append(calls, part...)
	}
	return calls, nil
}

func decodeAudit(in io.Reader) ([]call, error) {
	var calls []call
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var c call
		// The last line may be half written.
		if json.Unmarshal(lines.Bytes(), &c) == nil {
			calls = append(calls, c)
		}
	}
	return calls, lines.Err()
}

// isReview reports whether a manager asks the API server to authenticate or authorize a reader of its metrics, which is
// the bench here.
func (c call) isReview() bool {
	return c.Object.Resource == "tokenreviews" || c.Object.Resource == "subjectaccessreviews"
}

// countCalls counts the calls between two moments. A call has several events, with one ID.
func countCalls(calls []call, during span, provider []string) Kubernetes {
	out := Kubernetes{Verbs: map[string]int{}, Callers: map[string]map[string]map[string]int{}}
	seen := map[string]bool{}
	accounts := map[string]bool{}
	for _, account := range provider {
		accounts[account] = true
	}
	for _, c := range calls {
		if seen[c.AuditID] || !during.contains(c.Received) || c.isReview() || !strings.HasPrefix(c.User.Username, accountPrefix) {
			continue
		}
		seen[c.AuditID] = true
		agent, _, _ := strings.Cut(c.UserAgent, "/")
		agents := out.Callers[c.User.Username]
		if agents == nil {
			agents = map[string]map[string]int{}
			out.Callers[c.User.Username] = agents
		}
		if agents[agent] == nil {
			agents[agent] = map[string]int{}
		}
		agents[agent][c.Verb]++
		if accounts[c.User.Username] {
			out.Verbs[c.Verb]++
		}
	}
	return out
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
