package compute

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// maxModels is the number of different models that the instances of a uniform scale set may have. The message is that
// of https://github.com/kubernetes-sigs/cluster-api-provider-azure/issues/4958. By
// https://github.com/MicrosoftDocs/azure-docs/issues/103472 the limit is one of uniform orchestration and is not
// documented. Assumptions: status and code of the answer, and that Azure refuses a write of a new model once
// instances have ten others, but no write of a model that instances have already.
const maxModels = 10

// rememberModel stores the values that distinguish models of a scale set: "model" is the model with custom data and
// tags, "shape" is the model without. Scale sets of AKS have tags of their own, which instances follow at once.
func rememberModel(d *provider.Draft) {
	profile := body.Clone(body.Child(d.New, profilePath))
	body.Delete(profile, "timeCreated")
	sizeAndProfile := []any{profile, body.String(d.New, "sku.name")}
	d.Secret["shape"] = hashOf(sizeAndProfile)
	tags := body.Child(d.New, "tags")
	if body.Bool(d.Secret, "managed") {
		tags = nil
	}
	d.Secret["model"] = hashOf(append(sizeAndProfile, d.Secret["customData"], tags))
}

func hashOf(of []any) string {
	raw, _ := json.Marshal(of)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// checkModels refuses a new model while the instances are of as many models as there may be.
func checkModels(c *provider.Call, d *provider.Draft, before string) error {
	now := body.String(d.Secret, "model")
	if d.Old == nil || now == before || isFlexible(d.New) || body.Bool(d.Secret, "managed") {
		return nil
	}
	used := map[string]bool{}
	for _, r := range instancesOf(c, d.ID) {
		used[body.String(r.Secret, "model")] = true
	}
	if len(used) < maxModels || used[now] {
		return nil
	}
	return provider.Errorf(409, "OperationNotAllowed",
		"Virtual Machine Scale Set '%s' has reached its limit of %d models that may be referenced by one or more VMs belonging to the Virtual Machine Scale Set. Upgrade the VMs to the latest model of the Virtual Machine Scale Set before trying again.", d.Name, maxModels)
}

// needsRestart reports whether an instance boots anew when it is upgraded to the model of its scale set. An instance that
// differs only in custom data or tags does not: instances get new custom data when they are reimaged, not when they
// are upgraded. https://learn.microsoft.com/azure/virtual-machines/custom-data
func needsRestart(set, r *store.Resource) bool {
	return body.String(r.Secret, "power") == "running" && body.String(set.Secret, "shape") != body.String(r.Secret, "shape")
}
