package engine_test

import (
	"net/http"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestLastWrite distinguishes writes that Azure refused from writes that Azure may have carried out.
func TestLastWrite(t *testing.T) {
	type known struct{ refused, open bool }
	status := func(status int) *fault.Rule {
		return &fault.Rule{Method: http.MethodPut, Type: "Microsoft.Network/publicIPAddresses", Kind: fault.Status, Status: status, Code: "Fault",
			Count: -1}
	}
	for name, test := range map[string]struct {
		reason       string
		fault        *fault.Rule
		convergences int
		want         known
	}{
		"not written":  {"nothing was sent yet", nil, 0, known{}},
		"refused":      {"Azure checked the request and refused it", status(http.StatusBadRequest), 3, known{refused: true}},
		"server error": {"Azure may have begun", status(http.StatusInternalServerError), 3, known{open: true}},
		"failed": {"Azure accepted the request and its operation failed",
			&fault.Rule{Method: http.MethodPut, Type: "Microsoft.Network/publicIPAddresses", Kind: fault.Fail, Code: "Fault", Count: -1}, 3,
			known{open: true}},
		"in place": {"the resource was seen as it was sent", nil, 20, known{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if test.fault != nil {
				w.addFault(*test.fault)
			}
			request := w.newRequest(groupNode(), pipNode())
			for range test.convergences {
				w.advanceClock(max(w.convergeOnce(request).RetryAfter, time.Second))
			}
			refused, open := w.engine.LastWrite(pipNode().ID)
			if got := (known{refused, open}); got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.reason, got, test.want)
			}
			w.restartEngine()
			if refused, open := w.engine.LastWrite(pipNode().ID); refused || open {
				t.Error("a new process knows nothing of writes")
			}
		})
	}
}
