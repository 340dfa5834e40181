// Package drift_test changes resources in Azure past the provider, in virtual time, and checks that each change is repaired, reported
// or kept.
package drift_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// body is a resource as Azure shows it.
type body = map[string]any

// world is a scenario whose resources are changed outside.
type world struct {
	*virtual.Scenario
}

// dropElement takes an element by name out of a list of properties.
func (w *world) dropElement(path, list, name string) {
	w.T.Helper()
	w.dropElementBy(path, list, "name", name)
}

// dropElementBy takes the element out of a list of properties of which a member has a value.
func (w *world) dropElementBy(path, list, member, value string) {
	w.T.Helper()
	all, _ := w.FindProperty(path, "properties."+list).([]any)
	left := slices.DeleteFunc(slices.Clone(all), hasMember(member, value))
	if len(left) == len(all) {
		w.T.Fatalf("%s has no %s %s: %v", path, list, value, all)
	}
	w.EditResource(path, body{"properties": body{list: left}})
}

func hasMember(member, value string) func(any) bool {
	return func(item any) bool {
		element, _ := item.(body)
		text, _ := element[member].(string)
		return strings.EqualFold(text, value)
	}
}

// putPublicIP creates a public IP address that is not the cluster's.
func (w *world) putPublicIP(name string) {
	w.T.Helper()
	w.PutResource(network+"publicIPAddresses/"+name,
		body{"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"publicIPAllocationMethod": "Static"}})
}

// amendElement changes an element of a list of properties.
func (w *world) amendElement(path, list, name string, properties body) {
	w.T.Helper()
	all, _ := w.FindProperty(path, "properties."+list).([]any)
	element, _ := harness.FindValue(all, name).(body)
	if element == nil {
		w.T.Fatalf("%s has no %s %s: %v", path, list, name, all)
	}
	for key, value := range properties {
		element["properties"].(body)[key] = value
	}
	w.EditResource(path, body{"properties": body{list: all}})
}

// addElement adds an element to a list of properties.
func (w *world) addElement(path, list string, element body) {
	w.T.Helper()
	all, _ := w.FindProperty(path, "properties."+list).([]any)
	w.EditResource(path, body{"properties": body{list: append(all, element)}})
}

// newObject returns an empty AzureCluster, AzureMachine or AzureMachinePool of this name.
func newObject(name string) client.Object {
	switch name {
	case "c1", "p1":
		return &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	case pool:
		return &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// waitRead changes an object so that it is reconciled, and waits until the provider has read the resource from Azure.
func (w *world) waitRead(name, resource string) {
	w.T.Helper()
	id := w.shortenPath(resource)
	w.WaitQuiet()
	mark := w.Azure.MarkRequests()
	shows := []string{id, path.Dir(id)}
	if holder := path.Dir(path.Dir(id)); slices.Contains([]string{"subnets", "virtualNetworkPeerings", "inboundNatRules"},
		path.Base(path.Dir(id))) {
		// The parent resource has it in its body, too.
		shows = append(shows, holder, path.Dir(holder))
	}
	w.WaitUntil("the provider reads "+id, func() bool {
		// Reads of a sync that was due at the same time would serve the reconciliation.
		w.AdvanceClock(time.Minute)
		w.TouchObject(newObject(name))
		w.AdvanceClock(time.Second)
		return slices.ContainsFunc(w.Azure.RequestsSince(mark), func(request string) bool {
			return slices.ContainsFunc(shows, func(shown string) bool { return strings.HasPrefix(request, "GET "+shown+" ") })
		})
	})
}

// shortenPath returns the path of a resource as the harness has it in requests.
func (w *world) shortenPath(resource string) string {
	short := strings.TrimPrefix(string(w.ResourceID(resource)), "/subscriptions/"+w.Azure.SubscriptionID+"/")
	return strings.Replace(short, "/providers/", "/", 1)
}

// readObject returns an object as it is stored.
func (w *world) readObject(name string) harness.Conditioned {
	w.T.Helper()
	o := newObject(name)
	w.ReadObject(o, name)
	return o.(harness.Conditioned)
}

// waitReady waits until an object is in order.
func (w *world) waitReady(name string) {
	w.T.Helper()
	w.WaitUntil(name+" is in order", func() bool { return harness.IsReady(w.readObject(name)) },
		func() string { return harness.EncodeStatus(w.readObject(name)) })
}

// waitCondition waits until a condition of an object has a status, a reason, and a message with some words.
func (w *world) waitCondition(name string, want metav1.Condition) {
	w.T.Helper()
	w.WaitUntil(fmt.Sprintf("%s has the condition %s=%s %s %q", name, want.Type, want.Status, want.Reason, want.Message), func() bool {
		got := harness.FindCondition(w.readObject(name), want.Type)
		return got.Status == want.Status && got.Reason == want.Reason && strings.Contains(got.Message, want.Message)
	}, func() string { return harness.EncodeStatus(w.readObject(name)) })
}
