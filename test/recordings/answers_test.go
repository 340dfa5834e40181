package recordings

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestAnswersHaveTheFormOfResourceManager checks the facts by which the client tells Azure's answers from those of a proxy: each recorded 404
// has an error code, and each successful answer to a GET or PUT of a resource is a JSON object, or empty for a PUT.
func TestAnswersHaveTheFormOfResourceManager(t *testing.T) {
	missing, found := 0, 0
	for name, exchanges := range recordings(t) {
		for _, e := range exchanges {
			// The URLs of operations have answers of their own.
			if strings.Contains(strings.ToLower(e.Path), "operation") || e.Method != http.MethodGet && e.Method != http.MethodPut {
				continue
			}
			var answer struct {
				Code  string
				Error struct{ Code string }
			}
			isObject := strings.HasPrefix(e.Answer, "{") && json.Unmarshal([]byte(e.Answer), &answer) == nil
			switch {
			case e.Status == http.StatusNotFound:
				missing++
				if !isObject || answer.Code+answer.Error.Code == "" {
					t.Errorf("%s: %s %s: 404 without a code: %.200s", name, e.Method, e.Path, e.Answer)
				}
			case e.Status >= 200 && e.Status < 300:
				found++
				if isEmpty := e.Answer == "" || e.Answer == "null"; !isObject && (e.Method == http.MethodGet || !isEmpty) {
					t.Errorf("%s: %s %s: %d without an object: %.200s", name, e.Method, e.Path, e.Status, e.Answer)
				}
			}
		}
	}
	if missing < 250 || found < 1000 {
		t.Errorf("only %d absent and %d existing resources are recorded", missing, found)
	}
}
