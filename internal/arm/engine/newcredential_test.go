package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// expiring is a credential that Entra ID refuses from a moment on.
type expiring struct {
	credential.Token
	expired atomic.Bool
}

func (c *expiring) GetToken(ctx context.Context, options policy.TokenRequestOptions) (azcore.AccessToken, error) {
	if c.expired.Load() {
		return azcore.AccessToken{}, errors.New(`AADSTS7000222: The provided client secret keys for app 'a' are expired.`)
	}
	token, err := c.Token.GetToken(ctx, options)
	token.ExpiresOn = time.Now().Add(-time.Second) // It is asked for again before each request.
	return token, err
}

// TestNewCredentialFollowsOperation lets a client secret expire while Azure works, and the user store another one twenty minutes later; it
// expects that the operation is followed with the new one.
func TestNewCredentialFollowsOperation(t *testing.T) {
	for name, test := range map[string]struct {
		method string
		done   func(arm.Outcome) bool
	}{
		"creation": {"PUT", arm.Outcome.IsDone},
		"deletion": {"DELETE", arm.Outcome.IsDeleted},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := worldWith(t, groupNode())
			if test.method == "DELETE" {
				w, _ = worldWith(t, groupNode(), pipNode())
			}
			w.addFault(fault.Rule{Method: test.method, ID: pip.Key(), Kind: fault.Slow, Seconds: 60})
			node := pipNode()
			node.After = nil
			request := w.newRequest(node)
			again := func() arm.Outcome { return w.convergeOnce(request) }
			if test.method == "DELETE" {
				again = func() arm.Outcome { return w.deleteOnce(request) }
			}
			old := &expiring{Token: credential.Token(w.sim.Token(""))}
			request.Client = w.newClientWith(old, "old")
			again()
			old.expired.Store(true)
			for end := w.clock.Now().Add(20 * time.Minute); w.clock.Now().Before(end); {
				outcome := again()
				if test.done(outcome) {
					t.Fatal("the end was seen without a credential")
				}
				w.advanceClock(max(outcome.RetryAfter, time.Minute))
			}
			request.Client = w.newClientWith(credential.Token(w.sim.Token("")), "new")
			request.RetryNow = true
			for end := w.clock.Now().Add(5 * time.Minute); ; {
				outcome := again()
				request.RetryNow = false
				if test.done(outcome) {
					return
				}
				if w.clock.Now().After(end) {
					t.Fatalf("five minutes after the new credential: %+v", outcome.Results)
				}
				w.advanceClock(max(outcome.RetryAfter, time.Second))
			}
		})
	}
}

// TestOperationOfGoneObject lets a client secret expire while Azure works, and the object vanish, as when its finalizer is removed by hand;
// it expects that the operation is followed as long as its state can be read, or another object waits for it.
func TestOperationOfGoneObject(t *testing.T) {
	for name, test := range map[string]struct {
		reason                string
		expired, gone, shared bool
		running               bool // after the time that the operation takes
	}{
		"object exists":        {"the user may store another secret", true, false, false, true},
		"object is gone":       {"no one stores another secret", true, true, false, false},
		"another object waits": {"it may have another credential", true, true, true, true},
		"credential is valid":  {"its end is seen", false, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := worldWith(t, groupNode())
			w.addFault(fault.Rule{Method: "PUT", ID: pip.Key(), Kind: fault.Slow, Seconds: 600})
			node := pipNode()
			node.After = nil
			request := w.newRequest(node)
			old := &expiring{Token: credential.Token(w.sim.Token(""))}
			request.Client = w.newClientWith(old, "old")
			w.convergeOnce(request)
			if test.shared {
				other := request
				other.Object = "AzureCluster/default/other"
				w.convergeOnce(other)
			}
			old.expired.Store(test.expired)
			if test.gone {
				w.engine.ForgetObject(request.Object)
			}
			countAfter := func(d time.Duration) int {
				for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
					w.advanceClock(end.Sub(w.clock.Now()))
				}
				return len(w.engine.OperationAges())
			}
			if running := countAfter(30 * time.Second); running != 1 {
				t.Errorf("%s: after half a minute %d operations are followed", test.reason, running)
			}
			if running := countAfter(20 * time.Minute); (running > 0) != test.running {
				t.Errorf("%s: after 20 minutes %d operations are followed", test.reason, running)
			}
		})
	}
}

// newClientWith returns a client with a credential, whose requests share neither budgets nor reads with those of other principals.
func (w *world) newClientWith(c azcore.TokenCredential, principal string) *client.Client {
	w.t.Helper()
	options := w.options
	options.Principal = principal
	out, err := client.New(c, w.cloud, options)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
