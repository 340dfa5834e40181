package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

const (
	// conditioned are types of objects that the established provider writes a status of.
	conditioned = "azureclusters,azuremachines,azuremachinepools,azuremachinepoolmachines,azureclusteridentities,azuremanagedclusters,azuremanagedcontrolplanes,azuremanagedmachinepools," + documentTypes
	// documentTypes are those with documents.
	documentTypes = "azureasomanagedclusters,azureasomanagedcontrolplanes,azureasomanagedmachinepools"
)

// TestUpgradeFromEstablished runs the commands of the book for clusters of every family, stored as the established provider stores
// them, beside the Azure Service Operator with its kinds, objects and webhooks: check, first day, return, and a second move. The program is
// killed after each step of the first move and of the return. Nothing is written to Azure and no Machine is new, all is Ready again, a
// namespace that could not be deleted is gone, and the return restores the stored objects. Afterwards the clusters are scaled, rolled and
// deleted, which leaves nothing in Azure.
func TestUpgradeFromEstablished(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.startLab("--bare", "--release", l.releaseOfEstablished())
	l.createFamilies()
	ready := l.readyObjects(false)

	l.runProgram("kubectl", "scale", "deployment", "capz-controller-manager", "--namespace", "capz-system", "--replicas", "0")
	l.awaitStopped()
	l.storeAsEstablished()
	l.installOperator()
	l.runProgram("kubectl", "create", "namespace", "leaving")
	l.runProgram("kubectl", "delete", "namespace", "leaving", "--wait=false")
	// The namespace's own condition comes when the deletion has tried every kind, after minutes.
	l.eventually("the operator's objects cannot be listed without its webhook", func() (bool, string) {
		out, err := l.tryProgram("kubectl", "get", "resourcegroups."+operatorVersion+".resources.azure.com", "--request-timeout", "1m")
		return err != nil && strings.Contains(err.Error(), "conversion webhook"), fmt.Sprintf("%v\n%s", err, out)
	})

	l.signIn()
	stored, machines, before := l.readStored(), l.listMachines(), len(l.listRequests())
	const page = "moving-from-capz.md"
	l.withoutRights(func() {
		l.runBlock(l.bookBlock(page, "## 1. Check", 0))
		l.runKilled(l.bookBlock(page, "## 3. Observe first (optional)", 0), nil)
		l.runBlock(l.bookBlock(page, "## 3. Observe first (optional)", 1))
		l.runProgram("kubectl", "wait", "namespace/leaving", "--for=delete", "--timeout", patience.String())
		l.awaitReadyAgain(ready)
		l.expectDrifted("False")
		_, release, _ := strings.Cut(l.bookBlock(page, "## 3. Observe first (optional)", 2), "\n")
		l.runBlock(release)
		l.expectDrifted("")
		l.expectUpgraded()

		checkBack, back, _ := strings.Cut(l.bookBlock(page, "## 5. Rollback to CAPZ", 0), "\n")
		l.runBlock(checkBack)
		stop := l.playOperator()
		l.runKilled(back, func(step string) {
			if step == "roles" { // No manager runs until the next step.
				l.expectReturned(stored, l.readStored(), false)
			}
		})
		if got := l.providerVersion(); got != established {
			t.Errorf("clusterctl's inventory has %s after the return, want %s", got, established)
		}
		stop()
		after := l.readStored()
		l.expectReturned(stored, after, true)
		if after.conversions != stored.conversions {
			t.Errorf("conversions before the move:\n%s\nafter the return:\n%s", stored.conversions, after.conversions)
		}
		l.runBlock(l.bookBlock(page, "## 2. Run", 0))
	})
	l.awaitReadyAgain(ready)
	for cluster, of := range families {
		l.runProgram("kubectl", "wait", "cluster/"+cluster, "--namespace", of.namespace, "--for=condition=Available", "--timeout", patience.String())
	}
	for _, r := range l.listRequests()[before:] {
		if r.isWrite() && !r.byLab() {
			t.Errorf("%s %s (%d) during the moves", r.Method, r.URL, r.Status)
		}
	}
	if now := l.listMachines(); !slices.Equal(machines, now) {
		t.Errorf("Machines before the moves:\n%v\nafter them:\n%v", machines, now)
	}
	l.expectUpgraded()

	l.scaleFamilies(3)
	l.scaleFamilies(1)
	l.rollFamilies()
	l.deleteFamilies()
	l.expectNothingLeft()
	if got := l.runProgram("kubectl", "get", "storageaccounts.storage.azure.com", "kept", "--namespace", "team", "-o",
		"jsonpath={.metadata.finalizers}{.metadata.annotations}"); !strings.HasPrefix(got, `["`+operatorFinalizer+`"]`) {
		t.Errorf("the operator's object of another user was changed: %s", got)
	}
	// The other user needs the operator no more, either.
	l.runProgram("kubectl", "patch", "storageaccounts.storage.azure.com", "kept", "--namespace", "team", "--type=merge", "-p",
		`{"metadata":{"finalizers":null}}`)
	l.runProgram("kubectl", "delete", "namespace", "team", "--timeout", patience.String())
	l.runBlock(l.bookBlock("release.md", "## Upgrade from the established provider", 1))
	l.eventually("the operator's kinds are gone", func() (bool, string) {
		rest := l.runProgram("kubectl", "get", "customresourcedefinitions", "-l", "app.kubernetes.io/name=azure-service-operator", "-o", "name")
		return rest == "", rest
	})
}

// runBlock runs the lines of a block of the book.
func (l *lab) runBlock(block string) {
	l.t.Helper()
	for line := range strings.Lines(block) {
		begin := time.Now()
		words := splitWords(strings.TrimSpace(line))
		out := l.runProgram(words[0], words[1:]...)
		l.t.Logf("%.0f s: %s%s", time.Since(begin).Seconds(), line, out)
	}
}

// splitWords splits at spaces outside quotes, and keeps what quotes enclose.
func splitWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// bookBlock returns a block of commands of a section of the book.
func (l *lab) bookBlock(file, heading string, block int) string {
	l.t.Helper()
	_, section, _ := strings.Cut(l.readBook(file), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```sh\n")
	if len(blocks) < block+2 {
		l.t.Fatalf("docs/book/%s has %d blocks of commands in %q", file, len(blocks)-1, heading)
	}
	commands, _, _ := strings.Cut(blocks[block+1], "```")
	// The lab's configuration of clusterctl names the folder of the releases, like the file that users write.
	return strings.ReplaceAll(commands, " clusterctl.yaml", " "+filepath.Join(l.dir, "cluster-api", "clusterctl.yaml"))
}

// awaitReadyAgain waits until the objects are Ready by the new manager.
func (l *lab) awaitReadyAgain(ready []string) {
	l.t.Helper()
	l.eventually("all is Ready again, by the new manager", func() (bool, string) {
		now := l.readyObjects(true)
		missing := slices.DeleteFunc(slices.Clone(ready), func(name string) bool { return slices.Contains(now, name) })
		return len(missing) == 0, "not Ready: " + strings.Join(missing, ", ")
	})
}

// expectDrifted waits until the condition Drifted of all objects with resources in Azure has a status; "" is no condition.
func (l *lab) expectDrifted(status string) {
	l.t.Helper()
	kinds := "azureclusters,azuremachines,azuremachinepools,azuremanagedcontrolplanes,azuremanagedmachinepools," + documentTypes
	l.eventually("Drifted is "+status, func() (bool, string) {
		var others []string
		for _, o := range l.listObjects(kinds) {
			got, message := "", ""
			conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			for _, item := range conditions {
				if c := item.(object); c["type"] == "Drifted" {
					got, message = fmt.Sprint(c["status"]), fmt.Sprint(c["message"])
				}
			}
			if got != status {
				others = append(others, fmt.Sprintf("%s %s: %s %s", o.GetKind(), o.GetName(), got, message))
			}
		}
		return len(others) == 0, strings.Join(others, "\n")
	})
}

// readyObjects returns the objects that are Ready, by a manager that gives reasons if so asked: the established provider gives none.
func (l *lab) readyObjects(byReason bool) []string {
	l.t.Helper()
	var out []string
	for _, o := range l.listObjects(conditioned) {
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, item := range conditions {
			c := item.(object)
			if c["type"] == "Ready" && c["status"] == "True" && (!byReason || c["reason"] != nil && c["reason"] != "") {
				out = append(out, o.GetKind()+" "+o.GetName())
			}
		}
	}
	return out
}

// expectUpgraded expects the objects of the release and nothing of the established provider: roles, bindings of the
// manager's account, conversions by webhooks.
func (l *lab) expectUpgraded() {
	l.t.Helper()
	if got := l.providerVersion(); got != settings.ProviderVersion {
		l.t.Errorf("clusterctl's inventory has %s after the upgrade, want %s", got, settings.ProviderVersion)
	}
	if diff := l.diffRelease(); diff != "" {
		l.t.Errorf("the upgrade has left something that is not as released:\n%s", diff)
	}
	released := l.runProgram("clusterctl", "generate", "provider", "--infrastructure", "azure:"+settings.ProviderVersion, "--config",
		l.loadSettings().ClusterctlConfig())
	for line := range strings.Lines(l.runProgram("kubectl", "get", "clusterroles,clusterrolebindings,roles,rolebindings,deployments,services",
		"--all-namespaces", "-o",
		`jsonpath={range .items[*]}{.kind} {.metadata.name} {.subjects[*].name}{"\n"}{end}`)) {
		words := strings.Fields(line)
		if len(words) < 2 || !strings.HasPrefix(words[1], "capz-") && !strings.HasPrefix(words[1], "azureserviceoperator-") &&
			!slices.Contains(words[2:], "capz-manager") {
			continue
		}
		if !strings.Contains(released, "\n  name: "+words[1]+"\n") {
			l.t.Errorf("left of the established provider: %s", strings.TrimSpace(line))
		}
	}
	if got := l.readField("clusterrole/capz-manager-role", ".rules[*].resources"); got != "" {
		l.t.Errorf("the role of the established provider has collected rules: %s", got)
	}
	for line := range strings.Lines(l.runProgram("kubectl", "get", "customresourcedefinitions", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.spec.conversion.strategy}{"\n"}{end}`)) {
		if words := strings.Fields(line); len(words) == 2 && words[1] == "Webhook" && !strings.HasSuffix(words[0], ".cluster.x-k8s.io") ||
			len(words) == 2 && strings.HasPrefix(words[0], "azure") && words[1] != "None" {
			l.t.Errorf("%s needs a webhook for conversions", words[0])
		}
	}
}

// storeAsEstablished puts all objects into etcd as the established provider leaves them: no annotation of ours, a status of contract v1beta1,
// which is the one that its definitions name.
func (l *lab) storeAsEstablished() {
	l.t.Helper()
	l.runProgram("kubectl", "label", "customresourcedefinitions", "-l", ofProvider, "cluster.x-k8s.io/v1beta2-", "cluster.x-k8s.io/v1beta1=v1beta1")
	// It signs in as the manager, has made no account for that, and leaves a lease without our mark.
	l.runProgram("kubectl", "delete", "serviceaccount", "capz-workload-identity")
	l.runProgram("kubectl", "annotate", "lease", "controller-leader-election-capz", "--namespace", "capz-system",
		"infrastructure.cluster.x-k8s.io/former-identities-recorded-")
	l.untagDocuments()
	for _, o := range l.listObjects(conditioned) {
		annotations := o.GetAnnotations()
		for key := range annotations {
			if strings.HasPrefix(key, "sigs.k8s.io/cluster-api-provider-azure-") {
				delete(annotations, key)
			}
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations["clusterctl.cluster.x-k8s.io/block-move"] = "true"
		o.SetAnnotations(annotations)
		status, _, _ := unstructured.NestedMap(o.Object, "status")
		storeStatus(o.GetKind(), status)
		switch kind := o.GetKind(); {
		case strings.HasPrefix(kind, "AzureASO"):
			annotations["sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"] = ownedKinds(o)
			o.SetAnnotations(annotations)
			// The two programs pass an object on to each other before anything is in Azure. A lab is much faster.
			o.SetCreationTimestamp(metav1.NewTime(o.GetCreationTimestamp().Add(-time.Minute)))
		case kind == "AzureManagedCluster":
			status = object{"ready": true}
		}
		setNested(o, status, "status")
		l.storeInEtcd(o)
	}
}

// untagDocuments takes all tags from resources of documents: neither the established provider nor its operator adds
// any.
func (l *lab) untagDocuments() {
	l.t.Helper()
	azure, err := simulator.New(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	untagged := 0
	for _, id := range l.listResources() {
		if !strings.HasPrefix(id+"/", "/subscriptions/"+settings.SubscriptionID+"/resourcegroups/documents/") ||
			strings.Contains(id, "/maintenanceconfigurations/") {
			continue
		}
		if err := azure.PutResource(l.t.Context(), id+"/providers/Microsoft.Resources/tags/default", "2021-04-01",
			object{"properties": object{"tags": object{}}}); err != nil {
			l.t.Fatal(err)
		}
		untagged++
	}
	if untagged == 0 {
		l.t.Fatal("nothing was made of documents")
	}
}

// storeStatus gives a status the form of the established provider.
func storeStatus(kind string, status object) {
	for _, field := range []string{"initialization", "resources", "observedGeneration", "versions", "instances", "version",
		"externalManagedControlPlane", "capacity"} {
		delete(status, field)
	}
	if strings.HasPrefix(kind, "AzureASO") {
		status["ready"] = true
		delete(status, "conditions")
		return
	}
	if kind != "AzureClusterIdentity" {
		status["ready"] = true
		status["longRunningOperationStates"] = []any{object{"type": "PUT", "name": "over", "serviceName": "long", "resourceGroup": "g",
			"data": "eyJ0eXBlIjoib3ZlciJ9"}}
	}
	if kind == "AzureManagedControlPlane" {
		status["initialized"] = true
	}
	domains := object{}
	if list, isList := status["failureDomains"].([]any); isList {
		for _, item := range list {
			domains[item.(object)["name"].(string)] = object{"controlPlane": true}
		}
		status["failureDomains"] = domains
	}
	var kept []any
	conditions, _ := status["conditions"].([]any)
	for _, item := range conditions {
		c := item.(object)
		if c["type"] == "Paused" {
			continue
		}
		delete(c, "observedGeneration")
		if c["status"] == "True" {
			delete(c, "reason")
			delete(c, "message")
		} else {
			c["severity"] = "Info"
		}
		kept = append(kept, c)
	}
	status["conditions"] = kept
}

// ownedKinds returns the annotation with the kinds of the documents of an object.
func ownedKinds(o *unstructured.Unstructured) string {
	var out []string
	documents, _, _ := unstructured.NestedSlice(o.Object, "spec", "resources")
	for _, d := range documents {
		gvk := (&unstructured.Unstructured{Object: d.(object)}).GroupVersionKind()
		if entry := gvk.Kind + "." + gvk.Version + "." + gvk.Group; !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	return strings.Join(out, ";")
}

// storeInEtcd puts an object into etcd past webhooks and the API server, by etcd's gateway for JSON:
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
func (l *lab) storeInEtcd(o *unstructured.Unstructured) {
	l.t.Helper()
	o.SetResourceVersion("") // The API server takes it from etcd.
	value, err := json.Marshal(o.Object)
	if err != nil {
		l.t.Fatal(err)
	}
	gvk := o.GroupVersionKind()
	l.moments.markUnlogged(audited{pluralName(gvk.Kind), o.GetNamespace(), o.GetName()})
	key := fmt.Sprintf("/registry/%s/%s/%s/%s", gvk.Group, pluralName(gvk.Kind), o.GetNamespace(), o.GetName())
	body, err := json.Marshal(object{"key": []byte(key), "value": value, "prev_kv": true})
	if err != nil {
		l.t.Fatal(err)
	}
	response, err := http.Post(l.loadSettings().EtcdURL()+"/v3/kv/put", "application/json", bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer object
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer["prev_kv"] == nil {
		l.t.Fatalf("%s was not stored before: %s, %v", key, response.Status, err)
	}
}

// pluralName returns the name of the resource of a kind.
func pluralName(kind string) string {
	lower := strings.ToLower(kind)
	if name, y := strings.CutSuffix(lower, "y"); y {
		return name + "ies"
	}
	return lower + "s"
}
