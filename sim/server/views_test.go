package server_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// TestSlowBody delays the second half of an answer.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim, err := server.New(server.Options{TimeScale: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.AddFault(fault.Rule{Kind: fault.SlowBody, Seconds: 30, Count: 1}); err != nil {
			t.Fatal(err)
		}
		read := func() (time.Duration, int) {
			request, answer, begun := httptest.NewRequest("GET", "https://azure.example/subscriptions/"+sub+"?api-version=2022-12-01", nil),
				httptest.NewRecorder(), time.Now()
			request.Header.Set("Authorization", "Bearer "+sim.Token(""))
			sim.Handler().ServeHTTP(answer, request)
			return time.Since(begun), answer.Body.Len()
		}
		slow, length := read()
		quick, same := read()
		if slow-quick < 25*time.Second || length != same || length == 0 {
			t.Errorf("%s for %d bytes, then %s for %d", slow, length, quick, same)
		}
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
}
