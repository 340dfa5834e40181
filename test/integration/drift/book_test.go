package drift_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the page of the book")

const page = "../../../docs/book/drift.md"

// aksPart begins the part of the page that TestDriftBook of test/integration/managed compares.
const aksPart = "\n## Changes to AKS clusters\n"

const introduction = `# Drift detection and repair

Find out if the provider repairs, reports or keeps a change in Azure, and how soon it detects the change. The provider compares the resources in Azure with the spec. Changes can come from users,
cloud-provider-azure, policies and other programs.

## When drift is detected

| Detected | Interval (flag, default) | Changes |
|---|---|---|
| by a reconciliation after the object changed | | all |
| by the regular sync | ` + "`--sync-period`" + `, 10 minutes | writes to resources that can carry tags, their deletion and their tags; the power state of VMs and AKS clusters |
| by the full sync | ` + "`--full-sync-period`" + `, 1 hour | tags of resource groups; subnets, peerings, security rules, routes, inbound NAT rules, DNS records, role assignments and agent pools whose parent resource does not show the change; versions after an automatic upgrade by AKS; instances of AKS pools that come or go without a change of their scale set; kubeconfigs that users rotated |

The regular sync uses Azure's list of all resources of the subscription, which has the time of the last change of each resource. The full sync reads every resource.
Set ` + "`--full-sync-period=0`" + ` to run a full sync every time. A manager that may not list the resources of the subscription or resource group always runs full syncs.

The provider does not read, repair or report the resources of paused objects. It never changes resources that users created and that the spec only uses.

## Repaired, reported and kept changes

- **Repaired**: the provider writes the value of the spec.
- **Reported**: the provider writes nothing. The condition of the resource type shows the difference with the reason ` + "`Drifted`" + `. Its status is True while the object works, and False if it no longer works.
- **Kept**: the setting belongs to other programs or users. The provider neither changes nor reports it.

The message of a reported difference has its cause:

| Message | Cause |
|---|---|
| "was changed in Azure by another program or user" | Azure was changed |
| "cannot be changed, and the spec has other values" | the spec was changed, and existing resources cannot get the new value |
| "differs from the spec" | unknown, because the two were different when the manager first read them. For example, one was changed while no manager ran |

[Programs that share resources with the provider](shared-resources.md) lists the writes of other programs.

## Changes to self-managed clusters

| Resource | Change | Outcome | Note |
|---|---|---|---|
`

// TestBookHasEveryRow compares the page of the book with the rows that are tested.
func TestBookHasEveryRow(t *testing.T) {
	var want strings.Builder
	want.WriteString(introduction)
	seen := map[string]bool{}
	for _, r := range listRows() {
		key := r.resource + ": " + r.change
		if seen[key] {
			t.Errorf("%s is in the table twice", key)
		}
		seen[key] = true
		if r.outcome == kept && r.holds == nil || r.outcome == reported && r.want.Type == "" || r.object == "" || r.path == "" {
			t.Errorf("%s has no check of its outcome", key)
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s |\n", r.resource, r.change, r.outcome, r.note)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have, aks, _ := strings.Cut(string(raw), aksPart)
	if *update {
		if err := os.WriteFile(page, []byte(want.String()+aksPart+aks), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(have, want.String()); diff != "" {
		t.Errorf("run go test ./test/integration/drift -run TestBookHasEveryRow -update (-have +want):\n%s", diff)
	}
}
