package sharedwriters_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the page of the book and the note")

// userPage shows users which settings of other programs stay. testPage has the tests.
const (
	userPage = "../../../docs/book/shared-resources.md"
	testPage = "../../../docs/design/shared-writers.md"
)

const userIntroduction = `# Programs that share resources with the provider

Check which settings of other programs stay in the resources of the provider, for example rules of cloud-provider-azure in a security group, and resolve conflicts between programs.
[Drift detection and repair](drift.md) lists the changes that the provider repairs.

## Settings that stay

The provider does not write a resource because of these settings. If it writes the resource for another reason, such as a change of the spec, the settings stay.

| Program | Resource | Settings that stay |
|---|---|---|
`

const userEnd = `
The table leaves out resources that the provider does not write:

- public IP addresses and private link services of Services
- disks of volumes
- storage accounts and private endpoints of the CSI drivers
- the node resource group of an AKS cluster

## Settings that are removed from the spec

If you remove a setting from the spec, for example a backend pool, an extension, a rule or an identity, the provider removes it in Azure. It records its settings
in the annotation ` + "`sigs.k8s.io/cluster-api-provider-azure-applied`" + `.

## Two programs change the same setting

If the spec has a value and another program writes another value, the provider restores the value of the spec again and again. To stop this:

1. Read the changed paths in the [events](events.md) of the object with the reason ` + "`Repaired`" + `.
2. Find the caller in Azure's activity log of the resource.
3. Set the value in one place only: remove it from the spec, or exclude the resource from the other program. An Azure policy, for example, can have an exemption.
`

const testIntroduction = `# Tests of programs that share resources

Status: decided. Kept true by ` + "`test/integration/sharedwriters TestSharedWriters` and `test/integration/sharedwriters TestBook`" + `.

[Programs that share resources with the provider](../book/shared-resources.md) shows users which settings of other programs stay. Each row of this table is a test. It writes the setting with the request of that
program, and lets the provider reconcile all objects at several regular syncs and a full sync: the provider must not write. Then it changes the spec, and checks the setting again. The rows of cloud-provider-azure
and its disk driver follow their source, version v1.36.5, and those of cluster-autoscaler the source of its cloud provider for Azure.
The others follow Microsoft's documentation.

A PUT of cloud-provider-azure has no tags. According to Microsoft's [page on PUTs](https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update),
scale sets keep settings that a PUT leaves out. The page does not mention tags. That tags stay is an assumption.

| Program | Resource | Setting | Written with |
|---|---|---|---|
`

// settings has the wording for users of the settings that the rows of a program and a resource write.
var settings = map[[2]string]string{
	{"cloud-provider-azure", "Security group of nodes"}:         "a rule for each Service",
	{"cloud-provider-azure", "Outbound load balancer of nodes"}: "frontends, backend pools, rules and probes of Services",
	{"cloud-provider-azure", "Network interface of a machine"}:  "backend pools of Services",
	{"cloud-provider-azure", "Scale set"}:                       "backend pools of Services, also for new VMs of the pool",
	{"cloud-provider-azure", "Route table of nodes"}:            "a route for each Node",
	{"cloud-provider-azure", "Subnet of nodes"}:                 "network policies that are turned off for private link services",
	{"azuredisk CSI driver", "Virtual machine"}:                 "a data disk for each volume",
	{"azuredisk CSI driver", "Instance of a scale set"}:         "a data disk for each volume",
	{"azurefile CSI driver", "Subnet of nodes"}:                 "a service endpoint for storage",
	{"Azure Policy", "All resources with tags, self-managed"}:   "tags",
	{"Azure Policy", "All resources with tags, AKS"}:            "tags; on agent pools only if the spec has no tags for them",
	{"Azure Policy", "Virtual machine"}:                         "VM extensions, for example of Azure Monitor and Defender; user-assigned identities; the assessment of patches",
	{"Azure Policy", "Scale set"}:                               "VM extensions, for example of Azure Monitor and Defender; user-assigned identities",
	{"Azure Policy", "Subnet of nodes"}:                         "network policies for private endpoints",
	{"Azure Policy", "AKS cluster"}:                             "the add-on `azurepolicy`",
	{"Users", "Outbound load balancer of nodes"}:                "outbound ports and TCP reset of the outbound rule",
	{"Azure Backup", "Virtual machine"}:                         "its VM extension, and a lock against deletion",
	{"Autoscale of Azure", "Scale set"}:                         "the capacity, if the MachinePool has the annotation `cluster.x-k8s.io/replicas-managed-by`",
	{"cluster-autoscaler", "Scale set"}:                         "the capacity, and which VMs it deletes, if the MachinePool has the annotation `cluster.x-k8s.io/replicas-managed-by`",
	{"Defender for Cloud", "AKS cluster"}:                       "its sensor in `securityProfile`",
	{"Azure Monitor", "AKS cluster"}:                            "the add-on `omsagent`",
	{"AKS", "Agent pool"}:                                       "the version of the node image; the number of nodes, if AKS's autoscaler is on",
}

// TestBook compares the page for users and the note with the tests. Every program and resource of the rows needs a wording, and every wording a row.
func TestBook(t *testing.T) {
	var users, tests strings.Builder
	users.WriteString(userIntroduction)
	tests.WriteString(testIntroduction)
	seen, listed := map[string]bool{}, map[[2]string]bool{}
	for _, r := range listRows() {
		key := r.program + ": " + r.resource + ": " + r.entry
		if seen[key] {
			t.Errorf("%s is in the table twice", key)
		}
		seen[key] = true
		if r.verb == "" || r.in == nil || r.write == nil || r.kept == nil || (r.change == nil) != (r.sends == "") {
			t.Errorf("%s is not whole", key)
		}
		fmt.Fprintf(&tests, "| %s | %s | %s | %s |\n", r.program, r.resource, r.entry, r.verb)
		pair := [2]string{r.program, r.resource}
		if listed[pair] {
			continue
		}
		listed[pair] = true
		if settings[pair] == "" {
			t.Errorf("%s, %s: the page for users lacks its settings", r.program, r.resource)
		}
		fmt.Fprintf(&users, "| %s | %s | %s |\n", r.program, r.resource, settings[pair])
	}
	for pair := range settings {
		if !listed[pair] {
			t.Errorf("%s, %s: no row tests the settings on the page for users", pair[0], pair[1])
		}
	}
	users.WriteString(userEnd)
	for page, want := range map[string]string{userPage: users.String(), testPage: tests.String()} {
		if *update {
			if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(have), want); diff != "" {
			t.Errorf("run go test ./test/integration/sharedwriters -run Book -update (-have +want of %s):\n%s", page, diff)
		}
	}
}
