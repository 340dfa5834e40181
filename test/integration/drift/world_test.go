package drift_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// body is a resource as Azure shows it.
type body = map[string]any

// world is one management cluster and one Azure with everything in it that can be changed outside.
type world struct {
	*harness.Stage
	t *testing.T
}

// id returns the ID of a resource: path is its ID below the subscription, or below the providers of the group "c1".
func (w *world) id(path string) arm.ID {
	subscription := arm.SubscriptionID(w.Azure.SubscriptionID)
	switch {
	case strings.HasPrefix(path, "resourceGroups/"), strings.HasPrefix(path, "providers/"):
		return subscription + arm.ID("/"+path)
	default:
		return arm.ResourceGroupID(w.Azure.SubscriptionID, "c1") + arm.ID("/providers/"+path)
	}
}

// get reads a resource; ok is false when it does not exist.
func (w *world) get(path string) (resource body, ok bool) {
	w.t.Helper()
	status, raw := w.send(http.MethodGet, path, nil)
	if status == http.StatusNotFound {
		return nil, false
	}
	if err := json.Unmarshal(raw, &resource); err != nil || status != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, status, raw)
	}
	return resource, true
}

// at returns the value at a dotted path of a resource, with the name of an element of a list for its position.
func (w *world) at(path, dotted string) any {
	w.t.Helper()
	resource, _ := w.get(path)
	return harness.FindValue(resource, dotted)
}

// put makes or replaces a resource as a user of Azure does.
func (w *world) put(path string, resource body) {
	w.t.Helper()
	raw, err := json.Marshal(resource)
	if err != nil {
		w.t.Fatal(err)
	}
	if status, answer := w.send(http.MethodPut, path, raw); status > 299 {
		w.t.Fatalf("PUT %s: %d %s", path, status, answer)
	}
	w.Eventually(path+" is there", func() bool {
		state := w.at(path, "properties.provisioningState")
		return state == nil || state == "Succeeded"
	})
}

// remove deletes a resource as a user of Azure does.
func (w *world) remove(path string) {
	w.t.Helper()
	if status, answer := w.send(http.MethodDelete, path, nil); status > 299 {
		w.t.Fatalf("DELETE %s: %d %s", path, status, answer)
	}
	w.Eventually(path+" is gone", func() bool {
		_, ok := w.get(path)
		return !ok
	})
}

// edit merges a patch into a resource, null for what is to go, without asking Azure's rules.
func (w *world) edit(path string, patch body) {
	w.t.Helper()
	w.fault(fault.Rule{Now: true, ID: string(w.id(path)), Kind: fault.Edit, Patch: patch})
}

// fault has the simulated Azure do something by itself.
func (w *world) fault(rule fault.Rule) {
	w.t.Helper()
	if err := w.Azure.AddFault(rule); err != nil {
		w.t.Fatal(err)
	}
}

// act has Azure do something to a resource that a user asked for.
func (w *world) act(path, action string) {
	w.t.Helper()
	if status, answer := w.sendTo(http.MethodPost, string(w.id(path))+"/"+action, w.id(path), nil); status > 299 {
		w.t.Fatalf("POST %s/%s: %d %s", path, action, status, answer)
	}
}

// drop takes an element by name out of a list of properties.
func (w *world) drop(path, list, name string) {
	w.t.Helper()
	w.dropBy(path, list, "name", name)
}

// dropBy takes the element out of a list of properties of which a member has a value.
func (w *world) dropBy(path, list, member, value string) {
	w.t.Helper()
	all, _ := w.at(path, "properties."+list).([]any)
	left := slices.DeleteFunc(slices.Clone(all), with(member, value))
	if len(left) == len(all) {
		w.t.Fatalf("%s has no %s %s: %v", path, list, value, all)
	}
	w.edit(path, body{"properties": body{list: left}})
}

// has reports whether a list of properties has an element of which a member has a value.
func (w *world) has(path, list, member, value string) bool {
	w.t.Helper()
	all, _ := w.at(path, "properties."+list).([]any)
	return slices.ContainsFunc(all, with(member, value))
}

func with(member, value string) func(any) bool {
	return func(item any) bool {
		element, _ := item.(body)
		text, _ := element[member].(string)
		return strings.EqualFold(text, value)
	}
}

// address makes a public IP address that is nobody's of the cluster.
func (w *world) address(name string) {
	w.t.Helper()
	w.put(network+"publicIPAddresses/"+name,
		body{"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"publicIPAllocationMethod": "Static"}})
}

// amend changes an element of a list of properties.
func (w *world) amend(path, list, name string, properties body) {
	w.t.Helper()
	all, _ := w.at(path, "properties."+list).([]any)
	element, _ := harness.FindValue(all, name).(body)
	if element == nil {
		w.t.Fatalf("%s has no %s %s: %v", path, list, name, all)
	}
	for key, value := range properties {
		element["properties"].(body)[key] = value
	}
	w.edit(path, body{"properties": body{list: all}})
}

// add puts an element into a list of properties.
func (w *world) add(path, list string, element body) {
	w.t.Helper()
	all, _ := w.at(path, "properties."+list).([]any)
	w.edit(path, body{"properties": body{list: append(all, element)}})
}

// insert puts an element into a list of properties as other controllers do: they read the resource and write all of it.
func (w *world) insert(path, list string, element body) {
	w.t.Helper()
	resource, _ := w.get(path)
	properties, _ := resource["properties"].(body)
	if properties == nil {
		w.t.Fatalf("there is no %s", path)
	}
	all, _ := properties[list].([]any)
	properties[list] = append(all, element)
	w.put(path, resource)
}

func (w *world) send(method, path string, raw []byte) (status int, answer []byte) {
	w.t.Helper()
	return w.sendTo(method, string(w.id(path)), w.id(path), raw)
}

func (w *world) sendTo(method, url string, id arm.ID, raw []byte) (status int, answer []byte) {
	w.t.Helper()
	row, err := types.ForID(id)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), method, w.Azure.URL+url+"?api-version="+row.APIVersion, bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.Azure.UserToken())
	request.Header.Set("Content-Type", "application/json")
	// By this name the harness tells users of Azure from the provider.
	request.Header.Set("User-Agent", "integration-test")
	response, err := w.Azure.HTTP.Do(request)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, url, err)
	}
	defer func() { _ = response.Body.Close() }()
	var out bytes.Buffer
	if _, err := out.ReadFrom(response.Body); err != nil {
		w.t.Fatal(err)
	}
	return response.StatusCode, out.Bytes()
}

// object returns an empty AzureCluster, AzureMachine or AzureMachinePool of this name.
func object(name string) client.Object {
	switch name {
	case "c1", "p1":
		return &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	case pool:
		return &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// look has the provider look at an object anew, until it has read the resource from Azure.
func (w *world) look(name, resource string) {
	w.t.Helper()
	id := w.short(resource)
	w.quiet()
	mark := w.Azure.MarkRequests()
	again := func() {
		w.AdvanceClock(time.Minute)
		harness.ChangeObject(w.Stage, object(name), func(o client.Object) {
			annotations := o.GetAnnotations()
			annotations["example.com/look"] = fmt.Sprint(w.Azure.MarkRequests(), time.Now().UnixNano())
			o.SetAnnotations(annotations)
		})
	}
	again()
	last, same := mark, 0
	shows := []string{id, path.Dir(id)}
	if holder := path.Dir(path.Dir(id)); slices.Contains([]string{"subnets", "virtualNetworkPeerings", "inboundNatRules"},
		path.Base(path.Dir(id))) {
		// The document of what holds it has it, too.
		shows = append(shows, holder, path.Dir(holder))
	}
	w.Eventually("the provider reads "+id, func() bool {
		now := w.Azure.MarkRequests()
		if now != last {
			last, same = now, 0
		}
		// A pass that was still at it when the object changed is continued, with what it had read already. Nothing happens then until the
		// next change.
		if same++; same > 300 {
			same = 0
			again()
		}
		return slices.ContainsFunc(w.Azure.RequestsSince(mark), func(request string) bool {
			return slices.ContainsFunc(shows, func(shown string) bool { return strings.HasPrefix(request, "GET "+shown+" ") })
		})
	})
}

// quiet waits until the provider has asked nothing for a while: moving the clock while an operation is under way would make
// it a long one, and the provider would expect the next to be long, too.
func (w *world) quiet() {
	w.t.Helper()
	last, same := w.Azure.MarkRequests(), 0
	w.Eventually("the provider is quiet", func() bool {
		now := w.Azure.MarkRequests()
		if now != last {
			last, same = now, 0
		}
		same++
		return same > 25
	})
}

// short returns how the harness shows the path of a resource in requests.
func (w *world) short(resource string) string {
	short := strings.TrimPrefix(string(w.id(resource)), "/subscriptions/"+w.Azure.SubscriptionID+"/")
	return strings.Replace(short, "/providers/", "/", 1)
}

// found returns an object as it is now.
func (w *world) found(name string) harness.Conditioned {
	w.t.Helper()
	o := object(name)
	w.ReadObject(o, name)
	return o.(harness.Conditioned)
}

// ready waits until an object is in order.
func (w *world) ready(name string) {
	w.t.Helper()
	w.Eventually(name+" is in order", func() bool { return harness.IsReady(w.found(name)) },
		func() string { return harness.EncodeStatus(w.found(name)) })
}

// condition waits until a condition of an object has a status, a reason, and a message with some words.
func (w *world) condition(name string, want metav1.Condition) {
	w.t.Helper()
	w.Eventually(fmt.Sprintf("%s is told %s=%s %s %q", name, want.Type, want.Status, want.Reason, want.Message), func() bool {
		got := harness.FindCondition(w.found(name), want.Type)
		return got.Status == want.Status && got.Reason == want.Reason && strings.Contains(got.Message, want.Message)
	}, func() string { return harness.EncodeStatus(w.found(name)) })
}

// patience is how long a row waits for something to come about: hardly any takes a second.
const patience = harness.Patience

// Eventually is the stage's that says what was found.
func (w *world) Eventually(what string, condition func() bool, found ...func() string) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 10*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return condition(), nil })
	if err != nil {
		for _, say := range found {
			what += " " + say()
		}
		w.t.Fatalf("%s: not so after %s", what, patience)
	}
}
