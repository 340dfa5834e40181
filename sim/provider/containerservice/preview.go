package containerservice

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// preview is a property that AKS shows in preview api-versions from one on, as recorded. Recordings of the Azure Service Operator v2.5.0 and
// v2.13.0 have the previews of 2023, those of v2.18.0 the newer ones.
type preview struct {
	since string
	path  string
	value any
}

var (
	previewCluster = []preview{
		{"2023-11-02-preview", "properties.controlPlanePluginProfiles",
			pluginProfiles("azure-monitor-metrics-ccp", "gpu-provisioner", "karpenter", "kubelet-serving-csr-approver", "live-patching-controller",
				"static-egress-controller")},
		{"2024-04-02-preview", "properties.networkProfile.podLinkLocalAccess", "IMDS"},
		{"2023-02-02-preview", "properties.storageProfile.diskCSIDriver.version", "v1"},
		{"2025-10-02-preview", "properties.enableFIPS", false},
		{"2025-10-02-preview", "properties.hostedSystemProfile", body.Object{"enabled": false}},
	}
	previewPool = []preview{{"2025-10-02-preview", "properties.upgradeStrategy", "Rolling"}}
)

func pluginProfiles(names ...string) body.Object {
	out := body.Object{}
	for _, n := range names {
		out[n] = body.Object{"enableV2": true}
	}
	return out
}

// younger is a property that AKS shows from a stable and from a preview api-version on. Recordings of
// 2024-04-02-preview, 2024-09-01, 2025-08-01 and 2025-10-02-preview; between them the changelog of the SDK module
// armcontainerservice.
type younger struct{ path, stable, preview string }

var (
	youngerCluster = []younger{
		{"properties.bootstrapProfile", "2025-01-01", "2024-03-02-preview"},
		{"properties.nodeProvisioningProfile.defaultNodePools", "2025-05-01", "2025-04-02-preview"},
	}
	youngerPool = []younger{{"properties.upgradeSettings.maxUnavailable", "2025-04-01", "2024-09-02-preview"}}
)

func hideYounger(c *provider.Call, b body.Object, list []younger) {
	for _, y := range list {
		since := y.stable
		if isPreview(c) {
			since = y.preview
		}
		if c.APIVersion != "" && c.APIVersion < since {
			body.Delete(b, y.path)
		}
	}
}

// A pool that was never updated does not show all that it has: enableAutoScaling and the upgrade strategy when it was made with its cluster,
// the latter alone when it was made by itself. Recording Test_AKS_ManagedCluster_20251002preview_CRUD shows every step.
const (
	madeBy      = "madeBy"
	withCluster = "cluster"
	byItself    = "itself"
)

func hideUntouched(pool *store.Resource, shown body.Object) {
	by := body.String(pool.Secret, madeBy)
	if by == withCluster && !body.Bool(shown, "properties.enableAutoScaling") {
		body.Delete(shown, "properties.enableAutoScaling")
	}
	if by != "" && body.String(pool.Body, "properties.upgradeStrategy") == "" {
		body.Delete(shown, "properties.upgradeStrategy")
	}
}

func isPreview(c *provider.Call) bool { return strings.HasSuffix(c.APIVersion, "-preview") }

func showPreview(c *provider.Call, b body.Object, list []preview) {
	for _, p := range list {
		if isPreview(c) && c.APIVersion >= p.since {
			body.Default(b, p.path, p.value)
		}
	}
}

// showsETag reports whether etags are shown: since api-version 2025-10-01, and in previews before (recordings of
// 2025-08-01 have none).
func showsETag(c *provider.Call) bool { return isPreview(c) || c.APIVersion >= "2025-10-01" }

// missingPool is AKS's answer for a pool that its cluster does not have.
func missingPool(c *provider.Call) *provider.Error {
	e := newRefusal(404, "NotFound", "Could not find the agentpool: %s in subscription: %s, resourceGroup: %s, resourceName: %s.", c.ID.Name(),
		c.ID.Subscription, c.ID.ResourceGroup, c.ID.Parent().Name())
	e.More = body.Object{"subcode": "GetAgentPool_NotFound_HCPServerError"}
	return e.WithDetail(provider.Errorf(0, "Unspecified", "rpc error: code = NotFound desc = Agent Pool not found"))
}
