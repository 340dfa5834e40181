package properties

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

type object = map[string]any

const (
	group   = "/subscriptions/s/resourcegroups/c1"
	network = group + "/providers/microsoft.network/virtualnetworks/c1-vnet"
	rules   = group + "/providers/microsoft.network/networksecuritygroups/c1-nsg"
	machine = group + "/providers/microsoft.compute/virtualmachines/m"

	scaleSet  = group + "/providers/microsoft.compute/virtualmachinescalesets/pool"
	agentPool = group + "/providers/microsoft.containerservice/managedclusters/c1/agentpools/pool"
)

// resource returns a step in which a resource has a state.
func resource(id string, body object) Step { return Step{Resource: &Resource{ID: id, Body: body}} }

// owned returns a resource with the ownership tag of the cluster.
func owned(properties object) object {
	return object{"tags": object{ownershipPrefix + "c1": "owned"}, "properties": properties}
}

// request returns a step of a request that begins at a step; change may change it.
func request(begun int, method, path string, change func(*Request)) Step {
	out := &Request{Sent: begun, Begun: begun, Method: method, Path: path, Query: "api-version=1", UserAgent: "cluster-api-provider-azure", Status: 200,
		Body: "{}"}
	if change != nil {
		change(out)
	}
	return Step{Request: out}
}

// written returns a step in which a manager writes an object of a kind.
func written(kind string, before, after object) Step {
	return Step{Object: &Object{Kind: kind, Name: "c1", ByManager: true, Before: before, After: after}}
}

func metadata(key string, value any) object { return object{"metadata": object{key: value}} }

func withCondition(of object) object { return object{"status": object{"conditions": []any{of}}} }

func condition1(status, message string) object {
	return object{"type": "Ready", "status": status, "reason": "Failed", "message": message, "lastTransitionTime": "1"}
}

// repeat returns a step several times.
func repeat(n int, step func(i int) Step) (out []Step) {
	for i := range n {
		out = append(out, step(i))
	}
	return out
}

// changedBetween returns a resource that lacks something for a time between two stable moments.
func changedBetween(id string, whole, part object) []Step {
	return []Step{resource(id, whole), {Stable: true}, resource(id, part), resource(id, whole), {Stable: true}}
}

func list(name string, elements ...any) object { return object{"properties": object{name: elements}} }

// violations has histories for each property that violate it.
func violations() map[string][][]Step {
	element := object{"name": "a", "properties": object{"port": "443"}}
	finalizer, start := metadata("finalizers", []any{"f"}), time.Time{}
	out := map[string][][]Step{}
	for name, steps := range map[string][]Step{
		"DeleteHasProof":    {resource(network, object{}), request(1, "DELETE", network, nil)},
		"WriteHasFinalizer": {written("AzureCluster", nil, object{}), request(1, "PUT", network, nil)},
		"WriteIsValid":      {request(0, "PUT", network, func(r *Request) { r.Status = 400 })},
		"OneWritePerResource": {request(0, "PUT", network, nil),
			request(0, "DELETE", network, nil)},
		"WritesAreBounded": repeat(kindsOfCluster*maxWritesOfKind+1, func(i int) Step {
			return request(0, "PUT", network+strings.Repeat("x", i), nil)
		}),
		"UnchangedBodyIsNotSent": {resource(network, owned(object{"provisioningState": "Succeeded"})), request(0, "PUT", network, nil),
			request(2, "PUT", network, nil)},
		"RetryAfterIsKept": {request(0, "GET", network, func(r *Request) { r.Status, r.RetryAfter, r.SentAt = 429, 5*time.Second, start }),
			request(1, "GET", network, func(r *Request) { r.SentAt = start.Add(time.Second) })},
		"ReadsAreBounded": repeat(maxReads+1, func(i int) Step { return request(i, "GET", network, nil) }),
		"VMIsCreatedOnce": {{Object: &Object{Kind: "AzureMachine", Name: "m", After: finalizer}}, request(1, "PUT", machine, nil), resource(machine, nil),
			request(3, "PUT", machine, nil)},
		"RequestHasVersion":   {request(0, "GET", network, func(r *Request) { r.Query = "" })},
		"RequestHasUserAgent": {request(0, "GET", network, func(r *Request) { r.UserAgent = "curl" })},

		"ResourceStays":     changedBetween(network, object{}, nil),
		"SecurityRulesStay": changedBetween(rules, list("securityRules", element), list("securityRules")),
		"RoutesStay":        changedBetween(group+"/providers/microsoft.network/routetables/r", list("routes", element), list("routes")),
		"SubnetsStay":       changedBetween(network, list("subnets", element), list("subnets")),
		"LoadBalancingStays": changedBetween(group+"/providers/microsoft.network/loadbalancers/l", list("loadBalancingRules", element),
			list("loadBalancingRules")),
		"TagsStay": changedBetween(network, object{"tags": object{"costs": "a"}}, object{}),

		"SpecIsNotWritten":          {written("AzureCluster", object{"spec": object{"location": "a"}}, object{"spec": object{"location": "b"}})},
		"ForeignStatusIsNotWritten": {written("Machine", object{"status": object{"phase": "a"}}, object{"status": object{"phase": "b"}})},
		"ProviderIDStays":           {written("AzureMachine", object{"spec": object{"providerID": "a"}}, object{"spec": object{"providerID": "b"}})},
		"EndpointStays": {written("AzureCluster", object{"spec": object{"controlPlaneEndpoint": object{"host": "a"}}},
			object{"spec": object{"controlPlaneEndpoint": object{"host": "b"}}})},
		"ProvisionedStays": {written("AzureCluster", object{"status": object{"initialization": object{"provisioned": true}}}, object{})},
		"GenerationIsObserved": {written("AzureCluster", object{"status": object{"observedGeneration": 2.0}},
			object{"metadata": object{"generation": 2.0}, "status": object{"observedGeneration": 1.0}})},
		"OwnersStay":             {written("AzureCluster", metadata("ownerReferences", []any{object{"uid": "1"}}), object{})},
		"ForeignAnnotationsStay": {written("AzureCluster", metadata("annotations", object{"a": "b"}), object{})},
		"FinalizerHoldsResources": {resource(network, owned(nil)),
			written("AzureCluster", finalizer, metadata("finalizers", []any{}))},
		"ManagerDeletesItsOwn": {written("Cluster", object{}, nil)},

		"RequestIsNamedOnce": {written("AzureCluster", object{}, withCondition(condition1("False", "GET skus/skus: a; GET skus/skus: a")))},
		"ConditionTypesAreUnique": {written("AzureCluster", object{}, object{"status": object{"conditions": []any{condition1("True", ""),
			condition1("True", "")}}})},
		"ConditionIsValid": {written("AzureCluster", object{}, withCondition(condition1("Perhaps", "")))},
		"TransitionIsHonest": {written("AzureCluster", withCondition(condition1("True", "")),
			withCondition(object{"type": "Ready", "status": "True", "reason": "Failed", "message": "", "lastTransitionTime": "2"}))},
		"ProgressIsOne": {written("AzureCluster", object{}, object{"status": object{"conditions": []any{
			object{"type": "Reconciling", "status": "True", "reason": "A"}, object{"type": "Stalled", "status": "True", "reason": "A"}}}})},
		"ReadyIsProvisioned": {written("AzureCluster", object{}, object{"status": object{"conditions": []any{condition1("True", "")},
			"initialization": object{"provisioned": false}}})},

		"SecretsAreNotInObjects": {written("AzureCluster", object{}, metadata("annotations", object{"a": "the-secret"}))},
		"SecretsAreNotInEvents":  {{Event: &Event{Kind: "AzureCluster", Name: "c1", Note: "with the-secret"}}},
		"SecretsAreNotInAzure":   {request(0, "PUT", network, func(r *Request) { r.Body = "the-secret" })},
	} {
		out[name] = append(out[name], steps)
	}
	for name, histories := range furtherViolations() {
		out[name] = append(out[name], histories...)
	}
	return out
}

// furtherViolations has more histories for properties that look at several kinds of objects.
func furtherViolations() map[string][][]Step {
	named := func(kind, name string, before, after object) Step {
		for _, each := range []object{before, after} {
			if metadata, is := each["metadata"].(object); is {
				metadata["name"] = name
			}
		}
		return Step{Object: &Object{Kind: kind, Name: name, ByManager: true, Before: before, After: after}}
	}
	held := func() object { return metadata("finalizers", []any{"f"}) }
	free := func() object { return metadata("finalizers", []any{}) }
	of := func(providerID string) object {
		out := held()
		out["spec"] = object{"providerID": "azure://" + providerID}
		return out
	}
	spec := func(state, spec object) object {
		state["spec"] = spec
		return state
	}
	cluster := named("AzureCluster", "c1", nil, held())
	initialized := object{"status": object{"initialization": object{"controlPlaneInitialized": true}}}
	return map[string][][]Step{
		"DeleteHasProof": {{written("Cluster", nil, object{}), resource(network, object{"tags": object{ownershipPrefix + "c2": "owned"}}),
			request(2, "DELETE", network, nil)}},
		"WriteHasFinalizer": {
			{named("AzureMachine", "m", nil, held()), request(1, "PUT", network, nil)},
			{cluster, named("AzureMachine", "m", nil, free()), request(2, "PUT", machine, nil)},
			{cluster, named("AzureMachine", "other", nil, held()), request(2, "PATCH", machine, nil)},
			{cluster, named("AzureMachine", "m", nil, held()), named("AzureMachine", "m", held(), nil), request(3, "PUT", machine, nil)},
			{cluster, named("AzureMachinePool", "pool", nil, free()), named("AzureMachine", "pool", nil, held()), request(3, "PUT", scaleSet, nil)},
			{cluster, named("AzureManagedMachinePool", "p", nil, spec(free(), object{"name": "pool"})), request(2, "PUT", agentPool, nil)},
			{cluster, named("AzureASOManagedMachinePool", "p", nil, spec(held(), object{"resources": []any{
				object{"spec": object{"azureName": "another"}}}})), request(2, "PUT", agentPool, nil)},
		},
		"FinalizerHoldsResources": {
			{resource(machine, object{}), named("AzureMachine", "m", of(machine), free())},
			{named("Cluster", "c1", nil, object{}), resource(machine, owned(nil)), named("AzureMachine", "m", held(), nil)},
			{named("Cluster", "c1", nil, object{}), resource(scaleSet, owned(nil)), named("AzureMachinePool", "pool", held(), free())},
			{resource(scaleSet, object{}), named("AzureMachinePool", "other", of(scaleSet), free())},
			{resource(agentPool, object{}), named("AzureManagedMachinePool", "p", spec(held(), object{"name": "pool"}), free())},
			{resource(agentPool, object{}), named("AzureASOManagedMachinePool", "p", spec(held(), object{"resources": []any{
				object{"metadata": object{"name": "pool"}}}}), free())},
			{named("AzureMachinePool", "pool", nil, held()), resource(scaleSet+"/virtualmachines/0", object{}),
				named("AzureMachinePoolMachine", "pool-0", of(scaleSet+"/virtualmachines/0"), free())},
		},
		"ProvisionedStays": {{written("AzureManagedControlPlane", initialized, object{})}},
	}
}

// TestPropertiesFail checks each property on a history that violates it; it expects a finding that names the property and a reason.
func TestPropertiesFail(t *testing.T) {
	histories := violations()
	for _, p := range Always() {
		if len(histories[p.Name]) == 0 {
			t.Errorf("no history violates %s", p.Name)
		}
		for i, steps := range histories[p.Name] {
			found := p.Find(&History{Steps: steps, Secrets: []string{"the-secret"}})
			if len(found) == 0 {
				t.Errorf("%s finds no violation in history %d", p.Name, i)
				continue
			}
			if !strings.HasPrefix(found[0], p.Name+": ") || !strings.HasSuffix(found[0], p.because) || strings.Contains(found[0], "the-secret") {
				t.Errorf("%s: the violation must have the name and the reason, and no secret: %s", p.Name, found[0])
			}
		}
		delete(histories, p.Name)
	}
	if len(histories) > 0 {
		t.Errorf("histories of no property: %v", slices.Sorted(maps.Keys(histories)))
	}
}

// TestPropertiesHold checks a history without violations: a network is created, changed with a lost answer, and deleted.
func TestPropertiesHold(t *testing.T) {
	finalizer, at := metadata("finalizers", []any{"f"}), time.Unix(0, 0)
	ready := object{"type": "Ready", "status": "True", "reason": "Ready", "lastTransitionTime": "1"}
	provisioned := object{"metadata": object{"finalizers": []any{"f"}, "generation": 1.0},
		"status": object{"conditions": []any{ready}, "initialization": object{"provisioned": true}, "observedGeneration": 1.0}}
	h := &History{Secrets: []string{"the-secret"}, Steps: []Step{
		written("AzureCluster", object{}, finalizer),
		resource(network, owned(object{"provisioningState": "Succeeded"})),
		request(1, "PUT", network, nil),
		written("AzureCluster", finalizer, provisioned),
		{Stable: true},
		request(5, "PUT", network, func(r *Request) { r.Body, r.Lost, r.SentAt = `{"a":1}`, true, at }),
		{Met: LostAnswer},
		request(7, "PUT", network, func(r *Request) { r.Body, r.SentAt = `{"a":1}`, at }),
		{Stable: true},
		request(9, "DELETE", network, func(r *Request) { r.Status, r.SentAt = 400, at }), // in use
		request(10, "DELETE", network, func(r *Request) { r.SentAt = at }),
		resource(network, nil),
		written("AzureCluster", object{"metadata": object{"deletionTimestamp": "1"}}, nil),
		{Stable: true},
	}}
	for _, violation := range Check(h) {
		t.Error(violation)
	}
}

// TestRetriesHold checks a read that was sent before another one was refused, and one that waits.
func TestRetriesHold(t *testing.T) {
	start := time.Unix(0, 0)
	read := func(sent int, second float64, change func(*Request)) Step {
		at := start.Add(time.Duration(second * float64(time.Second)))
		return request(sent, "GET", network, func(r *Request) {
			r.SentAt = at
			if change != nil {
				change(r)
			}
		})
	}
	refused := read(0, 0, func(r *Request) { r.Status, r.RetryAfter = 429, 5*time.Second })
	refused.At = start.Add(time.Second)
	for _, violation := range Check(&History{Steps: []Step{refused, read(0, 0.5, nil), read(2, 6, nil)}}) {
		t.Error(violation)
	}
}

// TestOwnersHold checks histories of machines and pools that violate nothing.
func TestOwnersHold(t *testing.T) {
	changed := func(kind, name string, before, after object) Step {
		return Step{Object: &Object{Kind: kind, Name: name, ByManager: true, Before: before, After: after}}
	}
	state := func(name string, finalizers ...any) object {
		return object{"metadata": object{"name": name, "finalizers": finalizers}}
	}
	deleted := object{"metadata": object{"name": "pool", "deletionTimestamp": "1", "finalizers": []any{"f"}}}
	instance := object{"metadata": object{"name": "pool-0", "finalizers": []any{"f"}},
		"spec": object{"providerID": "azure://" + scaleSet + "/virtualmachines/0"}}
	for name, test := range map[string]struct {
		reason string
		steps  []Step
	}{
		"machine": {"the VM goes before the finalizer", []Step{changed("AzureMachine", "m", nil, state("m", "f")), request(1, "PUT", machine, nil),
			resource(machine, owned(nil)), resource(machine, nil), changed("AzureMachine", "m", state("m", "f"), state("m"))}},
		"VM of another owner": {"nothing of it is ours", []Step{changed("Cluster", "c1", nil, state("c1")), resource(machine, object{}),
			changed("AzureMachine", "m", state("m", "f"), state("m"))}},
		"VM of another name": {"another machine has it", []Step{changed("Cluster", "c1", nil, state("c1")), resource(machine, owned(nil)),
			changed("AzureMachine", "n", state("n", "f"), state("n"))}},
		"cluster that is being deleted": {"the VM goes with its group", []Step{
			changed("Cluster", "c1", nil, object{"metadata": object{"deletionTimestamp": "1"}}),
			resource(machine, owned(nil)), changed("AzureMachine", "m", state("m", "f"), state("m"))}},
		"VM of a pool that is being deleted": {"it goes with the scale set", []Step{changed("AzureMachinePool", "pool", nil, deleted),
			resource(scaleSet+"/virtualmachines/0", object{}), changed("AzureMachinePoolMachine", "pool-0", instance, nil)}},
		"VM of Windows": {"its name is shortened", []Step{changed("AzureMachine", "default-md-win-x2x4z-7tzhp", nil, object{
			"metadata": object{"name": "default-md-win-x2x4z-7tzhp", "finalizers": []any{"f"}}, "spec": object{"osDisk": object{"osType": "Windows"}}}),
			request(1, "PUT", strings.TrimSuffix(machine, "m")+"default-m-7tzhp", nil)}},
		"scale set of Windows": {"its name is shortened", []Step{changed("AzureMachinePool", "windows-mp-win", nil, object{
			"metadata": object{"name": "windows-mp-win", "finalizers": []any{"f"}}, "spec": object{"template": object{"osDisk": object{"osType": "Windows"}}}}),
			request(1, "PUT", strings.TrimSuffix(scaleSet, "pool")+"win-p-win", nil)}},
		"end of an operation": {"the provider has clusterctl move wait for it", []Step{changed("AzureMachine", "m",
			object{"metadata": object{"annotations": object{blockMove: "true"}}}, object{"metadata": object{}})}},
		"handover": {"the former manager still writes", []Step{{Met: LeaseLost, At: time.Unix(100, 0)}, {At: time.Unix(110, 0), Object: &Object{
			Kind: "AzureMachine", Name: "m", ByManager: true, Before: object{"status": object{"observedGeneration": 4.0}},
			After: object{"metadata": object{"generation": 4.0}, "status": object{"observedGeneration": 3.0}}}}}},
		"agent pool of a name in the spec": {"the object has a finalizer", []Step{changed("AzureManagedMachinePool", "p", nil, object{
			"metadata": object{"name": "p", "finalizers": []any{"f"}}, "spec": object{"name": "pool"}}),
			request(1, "PUT", agentPool, nil)}},
	} {
		for _, violation := range Check(&History{Steps: test.steps}) {
			t.Errorf("%s: %s: %s", name, test.reason, violation)
		}
	}
}

// TestTransitionIsHonest lets a Ready that was written as False at 00:08:45 change at 00:10:00.
func TestTransitionIsHonest(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ready := func(status, at string) object {
		return withCondition(object{"type": "Ready", "status": status, "reason": "A", "message": "", "lastTransitionTime": "2026-01-01T" + at + "Z"})
	}
	for name, test := range map[string]struct {
		reason, status, at string
		// leaseLost is when a manager lost its lease.
		leaseLost time.Duration
		want      int
	}{
		"now":         {reason: "the time is that of the change", status: "True", at: "00:09:10"},
		"same second": {reason: "times have whole seconds", status: "True", at: "00:08:45"},
		"earlier":     {reason: "Ready was False at that time", status: "True", at: "00:06:22", want: 1},
		"none":        {reason: "a condition has a time", status: "True", want: 1},
		"unchanged":   {reason: "Ready is False since 00:08:45", status: "False", at: "00:09:10", want: 1},
		"handover":    {reason: "two managers wrote", status: "False", at: "00:09:10", leaseLost: 9*time.Minute + 30*time.Second},
		"later":       {reason: "the handover is over", status: "False", at: "00:09:10", leaseLost: 8 * time.Minute, want: 1},
	} {
		before, between, after := ready("True", "00:06:22"), ready("False", "00:08:45"), ready(test.status, test.at)
		steps := []Step{written("AzureMachine", before, between), {Met: Conflict}, written("AzureMachine", between, after)}
		steps[0].At, steps[2].At = day.Add(8*time.Minute+45*time.Second+time.Millisecond), day.Add(10*time.Minute)
		if test.leaseLost > 0 {
			steps[1] = Step{At: day.Add(test.leaseLost), Met: LeaseLost}
		}
		var found []string
		for _, p := range Always() {
			if p.Name == "TransitionIsHonest" {
				found = p.Find(&History{Steps: steps})
			}
		}
		if len(found) != test.want {
			t.Errorf("%s: %s: found %q, want %d", name, test.reason, found, test.want)
		}
	}
}

// TestCountMet counts what went wrong. A crash counts between two writes only.
func TestCountMet(t *testing.T) {
	put := request(0, "PUT", network, nil)
	for name, test := range map[string]struct {
		reason string
		steps  []Step
		want   int
	}{
		"between":  {"the next manager writes after the crash", []Step{put, {Met: KilledAfter}, put}, 1},
		"before":   {"nothing was written before", []Step{{Met: KilledBefore}, put}, 0},
		"at rest":  {"the work was done before the crash", []Step{put, {Stable: true}, {Met: KilledAfter}, put}, 0},
		"no crash": {"nothing went wrong", []Step{put, {Met: Throttled}, put}, 0},
	} {
		if got := CountMet(&History{Steps: test.steps})[CrashBetweenWrites]; got != test.want {
			t.Errorf("%s: %s: counted %d crashes between writes, want %d", name, test.reason, got, test.want)
		}
	}
}
