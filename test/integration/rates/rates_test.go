// Package rates_test has Azure refuse things for as long as it lasts, in virtual time, and counts the cost of one minute: reconciliations
// of the object, and requests to Azure.
package rates_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// The most that a refusal may cost in its first minute. A request is tried two or three times if only a person can correct the cause, and
// again after 1, 2, 4, 8, 16 and 32 s if the cause may pass by itself. A try is a moment or two, and one or two requests. building is for
// the other resources of an object that is made, which are not refused: the rest of a network takes three dozen requests, and the end of
// each resource is a moment.
var (
	stalledBound = cost{moments: 5, calls: 16}
	retriedBound = cost{moments: 12, calls: 32}
	building     = map[string]cost{
		"AzureCluster": {moments: 7, calls: 36}, "AzureMachine": {moments: 4, calls: 8},
		"AzureManagedControlPlane": {moments: 6, calls: 24}, "AzureManagedMachinePool": {moments: 2},
	}
	// deleting is for the reads of a deletion before each of its tries: the group, and the resources in it.
	deleting = cost{calls: 12}
)

// cost counts the moments of a minute at which one object is reconciled, and its requests to Azure.
type cost struct{ moments, calls int }

// subject is an object that Azure refuses something for.
type subject struct {
	kind, name string
	refusal    refusal
	bound      cost
	// trace is the common part of the URLs of its requests; "" is the name.
	trace string
}

// counted is a scenario whose reconciliations and requests are counted.
type counted struct {
	*virtual.Scenario
	subjects []subject
}

// addRefusal makes Azure refuse requests for a resource of the subject, whose ID is the glob.
func (c *counted) addRefusal(kind, name, method, glob string, r refusal) {
	c.T.Helper()
	rule := r.rule
	rule.Method, rule.ID, rule.Count = method, glob, -1
	if err := c.Azure.AddFault(rule); err != nil {
		c.T.Fatal(err)
	}
	if method == "DELETE" {
		bound := r.maxCost()
		bound.calls += deleting.calls
		c.subjects = append(c.subjects, subject{kind: kind, name: name, refusal: r, bound: bound})
		return
	}
	c.addSubject(kind, name, "", r)
}

// addSubject adds a subject that is made.
func (c *counted) addSubject(kind, name, trace string, r refusal) {
	bound := r.maxCost()
	bound.moments += building[kind].moments
	bound.calls += building[kind].calls
	c.subjects = append(c.subjects, subject{kind: kind, name: name, refusal: r, bound: bound, trace: trace})
}

// reconciliations has the number of reconciliations of an object that began at each moment of virtual time. Each write of an object is an
// event for its controller, and a busy machine merges more of these events into one reconciliation. So tests limit the number of moments,
// which is the same in each run. A loop that does not wait has more than mostAtOnce reconciliations at one moment.
type reconciliations map[string]int

// mostAtOnce is twice the writes of one moment: the finalizer, the owners, the former and the new status, and those of the objects beside
// it.
const mostAtOnce = 20

// count returns the number of reconciliations.
func (p reconciliations) count() int {
	count := 0
	for _, atOnce := range p {
		count += atOnce
	}
	return count
}

// atOnce returns the most reconciliations of one moment.
func (p reconciliations) atOnce() int {
	return slices.Max(append(slices.Collect(maps.Values(p)), 0))
}

// listReconciliations returns the reconciliations of each subject that began after the first lines of the log.
func (c *counted) listReconciliations(first int) []reconciliations {
	out := make([]reconciliations, len(c.subjects))
	for i := range out {
		out[i] = reconciliations{}
	}
	for _, line := range c.Environment.Logs.LinesSince(first) {
		moment, rest, _ := strings.Cut(line, `"level"`)
		if !strings.Contains(rest, `"msg"="Reconciling"`) {
			continue
		}
		for i, s := range c.subjects {
			if strings.Contains(rest, fmt.Sprintf(`"controller"=%q`, strings.ToLower(s.kind))) &&
				strings.Contains(rest, fmt.Sprintf(`"namespace"=%q "name"=%q`, c.Namespace, s.name)) {
				out[i][moment]++
			}
		}
	}
	return out
}

// listCalls returns the requests about an object after the mark.
func (c *counted) listCalls(s subject, mark harness.Mark) []string {
	trace := s.trace
	if trace == "" {
		trace = "/" + s.name
	}
	var out []string
	for _, request := range c.Azure.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if strings.Contains(strings.ToLower(path)+"/", trace) {
			out = append(out, fmt.Sprintf("%s %s %d", request.Method, path, request.Status))
		}
	}
	return out
}

// countMinute calls begin, and checks the cost of each subject in the minute after it.
func (c *counted) countMinute(begin func()) {
	c.T.Helper()
	mark, first := c.Azure.MarkRequests(), c.Environment.Logs.CountLines()
	over := time.After(time.Minute)
	begin()
	<-over
	for i, p := range c.listReconciliations(first) {
		s := c.subjects[i]
		calls := c.listCalls(s, mark)
		c.T.Logf("%-24s %-28s %3d moments %3d calls %3d reconciliations %3d at once", s.kind, s.name, len(p), len(calls), p.count(), p.atOnce())
		if len(p) > s.bound.moments || len(calls) > s.bound.calls {
			c.T.Errorf("%s %s: %s: reconciled at %d moments of a minute with %d requests, at most %d and %d are needed:\n%s", s.kind, s.name,
				s.refusal.reason, len(p), len(calls), s.bound.moments, s.bound.calls, strings.Join(calls, "\n"))
		}
		if p.atOnce() > mostAtOnce {
			c.T.Errorf("%s %s: %d reconciliations at one moment", s.kind, s.name, p.atOnce())
		}
		if len(p) == 0 || len(calls) == 0 {
			c.T.Errorf("%s %s: reconciled at %d moments with %d requests: nothing was refused", s.kind, s.name, len(p), len(calls))
		}
	}
}

// maxCost returns the maximum cost of the refusal.
func (r refusal) maxCost() cost {
	if r.retried {
		return retriedBound
	}
	return stalledBound
}

// playCounted plays a story with a manager. There is no identity yet.
func playCounted(t *testing.T, story func(c *counted)) {
	t.Helper()
	virtual.PlayComplete(t, func(s *virtual.Scenario) {
		s.StartProvider()
		story(&counted{Scenario: s})
	})
}

func (c *counted) deleteObject(object client.Object, name string) {
	c.T.Helper()
	c.ReadObject(object, name)
	if err := c.Client.Delete(c.T.Context(), object); err != nil {
		c.T.Fatal(err)
	}
}

// eachRefusal calls f for the refusals in the order of their names.
func eachRefusal(refusals map[string]refusal, f func(name string, r refusal)) {
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		f(name, refusals[name])
	}
}

// otherSubscription is one that the identity has nothing in.
const otherSubscription = "00000000-0000-0000-0000-0000000000ff"

var wrongSubscription = refusal{reason: "the subscription does not exist"}

func TestRefusedClustersAreTriedRarely(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		const kind = "AzureCluster"
		eachRefusal(locked, func(name string, r refusal) {
			c.CreateCluster(c.AzureCluster("c-delete-" + name))
		})
		eachRefusal(locked, func(name string, r refusal) { c.WaitClusterProvisioned("c-delete-" + name) })

		var begin []func()
		create := func(name string, change func(*infrav1.AzureCluster)) {
			begin = append(begin, func() {
				azureCluster := c.AzureCluster(name)
				if change != nil {
					change(azureCluster)
				}
				c.CreateCluster(azureCluster)
			})
		}
		eachRefusal(locked, func(name string, r refusal) {
			name = "c-delete-" + name
			c.addRefusal(kind, name, "DELETE", "*/resourcegroups/"+name, r)
			begin = append(begin, func() {
				c.deleteObject(&clusterv1.Cluster{}, name)
				c.deleteObject(&infrav1.AzureCluster{}, name)
			})
		})
		eachRefusal(withoutThrottling(refusals), func(name string, r refusal) {
			name = "c-write-" + name
			c.addRefusal(kind, name, "PUT", "*/resourcegroups/"+name+"/*/virtualnetworks/*", r)
			create(name, nil)
		})
		eachRefusal(withoutThrottling(unreadable), func(name string, r refusal) {
			name = "c-read-" + name
			c.addRefusal(kind, name, "GET", "*/resourcegroups/"+name+"/*", r)
			create(name, nil)
		})
		c.addSubject(kind, "c-subscription", otherSubscription, wrongSubscription)
		create("c-subscription", func(a *infrav1.AzureCluster) { a.Spec.SubscriptionID = otherSubscription })
		c.addSubject(kind, "c-peering", "", refusal{reason: "the network that the spec names does not exist", retried: true})
		create("c-peering", func(a *infrav1.AzureCluster) {
			a.Spec.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "nobody",
				RemoteVnetName: "nowhere"}}}
		})
		c.countMinute(func() {
			for _, f := range begin {
				f()
			}
		})
	})
}

func TestRefusedMachinesAreTriedRarely(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		const kind = "AzureMachine"
		c.CreateCluster(c.AzureCluster("base"))
		c.WaitClusterProvisioned("base")
		eachRefusal(locked, func(name string, r refusal) {
			c.CreateMachine(c.AzureMachine("base", "m-delete-"+name), harness.Worker, "")
		})
		eachRefusal(locked, func(name string, r refusal) { c.WaitMachineProvisioned("m-delete-" + name) })

		var begin []func()
		create := func(name string, windows bool) {
			begin = append(begin, func() {
				machine := c.AzureMachine("base", name)
				if windows {
					machine.Spec.OSDisk.OSType = infrav1.WindowsOS
				}
				c.CreateMachine(machine, harness.Worker, "")
			})
		}
		eachRefusal(locked, func(name string, r refusal) {
			name = "m-delete-" + name
			c.addRefusal(kind, name, "DELETE", "*/virtualmachines/"+name, r)
			begin = append(begin, func() { c.deleteObject(&infrav1.AzureMachine{}, name) })
		})
		eachRefusal(withoutThrottling(refusals), func(name string, r refusal) {
			c.addRefusal(kind, "m-linux-"+name, "PUT", "*/virtualmachines/m-linux-"+name, r)
			create("m-linux-"+name, false)
			if name == "parameter" || name == "failed" || name == "error" {
				// The names of Windows computers have 15 characters at most.
				windows := "w-" + name
				c.addRefusal(kind, windows, "PUT", "*/virtualmachines/"+windows, r)
				create(windows, true)
				c.addRefusal(kind, "m-nic-"+name, "PUT", "*/networkinterfaces/m-nic-"+name+"*", r)
				create("m-nic-"+name, false)
			}
		})
		c.countMinute(func() {
			for _, f := range begin {
				f()
			}
		})
	})
}

// TestMachinesShareReadsOfAnUnreadableNetwork lets the network of machines become unreadable. Their reads are shared, so they are counted
// for all machines together.
func TestMachinesShareReadsOfAnUnreadableNetwork(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		c.CreateCluster(c.AzureCluster("base"))
		c.WaitClusterProvisioned("base")
		if err := c.Azure.AddFault(fault.Rule{Method: "GET", ID: "*/virtualnetworks/*", Count: -1, Kind: fault.Status, Status: 403,
			Code: "AuthorizationFailed", Message: "No."}); err != nil {
			c.T.Fatal(err)
		}
		// The engine's reads of the moment are over.
		c.AdvanceClock(10 * time.Minute)
		for i := range 5 {
			c.subjects = append(c.subjects,
				subject{kind: "AzureMachine", name: fmt.Sprintf("m%d", i), refusal: refusals["forbidden"],
					bound: cost{moments: stalledBound.moments + building["AzureMachine"].moments, calls: stalledBound.calls}, trace: "/virtualnetworks/"})
		}
		c.countMinute(func() {
			for _, s := range c.subjects {
				c.CreateMachine(c.AzureMachine("base", s.name), harness.Worker, "")
			}
		})
	})
}

func TestRefusedManagedClustersAreTriedRarely(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		const kind = "AzureManagedControlPlane"
		pool := harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1}
		eachRefusal(locked, func(name string, r refusal) { c.CreateManagedCluster(c.ControlPlane("k-delete-"+name), pool) })
		eachRefusal(locked, func(name string, r refusal) { c.WaitControlPlaneReady("k-delete-" + name) })

		var begin []func()
		create := func(name string, change func(*infrav1.AzureManagedControlPlane)) {
			begin = append(begin, func() {
				controlPlane := c.ControlPlane(name)
				if change != nil {
					change(controlPlane)
				}
				c.CreateManagedCluster(controlPlane, pool)
			})
		}
		eachRefusal(locked, func(name string, r refusal) {
			name = "k-delete-" + name
			c.addRefusal(kind, name, "DELETE", "*/resourcegroups/"+name, r)
			begin = append(begin, func() {
				c.deleteObject(&clusterv1.Cluster{}, name)
				// The control plane waits for its pools.
				c.deleteObject(&infrav1.AzureManagedMachinePool{}, name+"-"+pool.Name)
				c.deleteObject(&infrav1.AzureManagedControlPlane{}, name)
			})
		})
		eachRefusal(withoutThrottling(refusals), func(name string, r refusal) {
			name = "k-write-" + name
			c.addRefusal(kind, name, "PUT", "*/managedclusters/"+name, r)
			create(name, nil)
		})
		eachRefusal(withoutThrottling(unreadable), func(name string, r refusal) {
			name = "k-read-" + name
			c.addRefusal(kind, name, "GET", "*/managedclusters/"+name, r)
			create(name, nil)
		})
		c.addSubject(kind, "k-subscription", otherSubscription, wrongSubscription)
		create("k-subscription", func(p *infrav1.AzureManagedControlPlane) { p.Spec.SubscriptionID = otherSubscription })
		c.countMinute(func() {
			for _, f := range begin {
				f()
			}
		})
	})
}

func TestRefusedManagedPoolsAreTriedRarely(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateIdentity()
		const kind = "AzureManagedMachinePool"
		user := func(name string) harness.ManagedPool {
			return harness.ManagedPool{Name: name, Mode: "User", Replicas: 1}
		}
		pools := []harness.ManagedPool{{Name: "pool0", Mode: "System", Replicas: 1}}
		// AKS has names of pools with 12 characters at most, and one operation per cluster at a time.
		eachRefusal(locked, func(name string, r refusal) { pools = append(pools, user("d"+name)) })
		c.CreateManagedCluster(c.ControlPlane("base"), pools...)
		c.WaitManagedClusterReady("base", pools...)

		var begin []func()
		eachRefusal(locked, func(name string, r refusal) {
			c.addRefusal(kind, "base-d"+name, "DELETE", "*/agentpools/d"+name, r)
			c.subjects[len(c.subjects)-1].trace = "/agentpools/d" + name + "/"
			begin = append(begin, func() { c.deleteObject(&infrav1.AzureManagedMachinePool{}, "base-d"+name) })
		})
		eachRefusal(withoutThrottling(refusals), func(name string, r refusal) {
			c.addRefusal(kind, "base-w"+name, "PUT", "*/agentpools/w"+name, r)
			c.subjects[len(c.subjects)-1].trace = "/agentpools/w" + name + "/"
			begin = append(begin, func() { c.CreateManagedPool("base", user("w"+name)) })
		})
		c.countMinute(func() {
			for _, f := range begin {
				f()
			}
		})
	})
}

// withoutThrottling returns the refusals that delay no other object: throttling applies to the principal, with all its requests.
func withoutThrottling(refusals map[string]refusal) map[string]refusal {
	out := maps.Clone(refusals)
	delete(out, "waits")
	delete(out, "throttled")
	return out
}

// TestThrottledObjectsAreTriedRarely lets Azure throttle the requests for one resource of each kind.
func TestThrottledObjectsAreTriedRarely(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"waits", "throttled"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playCounted(t, func(c *counted) {
				r := refusals[name]
				c.CreateIdentity()
				c.CreateCluster(c.AzureCluster("base"))
				c.WaitClusterProvisioned("base")
				c.addRefusal("AzureCluster", "c1", "PUT", "*/resourcegroups/c1/*/virtualnetworks/*", r)
				c.addRefusal("AzureMachine", "m1", "PUT", "*/virtualmachines/m1", r)
				c.addRefusal("AzureManagedControlPlane", "k1", "PUT", "*/managedclusters/k1", r)
				c.countMinute(func() {
					c.CreateCluster(c.AzureCluster("c1"))
					c.CreateMachine(c.AzureMachine("base", "m1"), harness.Worker, "")
					c.CreateManagedCluster(c.ControlPlane("k1"), harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
				})
			})
		})
	}
}

// TestRefusedTokensAreRequestedRarely uses an identity that Entra ID refuses. Requests for tokens count as well.
func TestRefusedTokensAreRequestedRarely(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateCredential("wrong")
		c.CreateObject(c.NewIdentity())
		refused := refusal{reason: "Entra ID refuses the credentials"}
		c.addSubject("AzureCluster", "c1", "/oauth2/", refused)
		c.addSubject("AzureManagedControlPlane", "k1", "/oauth2/", refused)
		c.countMinute(func() {
			c.CreateCluster(c.AzureCluster("c1"))
			c.CreateManagedCluster(c.ControlPlane("k1"), harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
		})
	})
}

// TestIdentityWithoutSecretAsksAzureNothing creates an AzureClusterIdentity without its Secret, for which no request to Azure is needed.
func TestIdentityWithoutSecretAsksAzureNothing(t *testing.T) {
	t.Parallel()
	playCounted(t, func(c *counted) {
		c.CreateObject(c.NewIdentity())
		c.subjects = []subject{{kind: "AzureClusterIdentity", name: harness.IdentityName}, {kind: "AzureCluster", name: "c1"}}
		over := time.After(time.Minute)
		c.CreateCluster(c.AzureCluster("c1"))
		harness.WaitFor(c.Stage, &infrav1.AzureCluster{}, "c1", "refused", func(a *infrav1.AzureCluster) bool {
			return harness.FindCondition(a, infrav1.ReadyCondition).Status == metav1.ConditionFalse
		})
		<-over
		for i, p := range c.listReconciliations(0) {
			if len(p) == 0 || len(p) > stalledBound.moments || p.atOnce() > mostAtOnce {
				c.T.Errorf("%s without its Secret: %d reconciliations at %d moments of a minute, at most %d are needed", c.subjects[i].kind,
					p.count(), len(p), stalledBound.moments)
			}
		}
		if requests := c.Azure.RequestsSince(0); len(requests) > 0 {
			c.T.Errorf("Azure need not be asked: %q", requests)
		}
	})
}
