package lent_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
)

// ownerlessURLs are the ends of the properties that have a URL and may have any value with a lent identity, with the reason.
var ownerlessURLs = map[string]string{
	"keyEncryptionKey.keyUrl":                 "sourceVault beside it is the ID of the vault",
	"diskEncryptionKey.secretUrl":             "sourceVault beside it is the ID of the vault",
	"protectedSettingsFromKeyVault.secretUrl": "sourceVault beside it is the ID of the vault",
	"vaultCertificates[].certificateUrl":      "sourceVault beside it is the ID of the vault",
	"listeners[].certificateUrl":              "it selects one of osProfile.secrets",
	"activeKey.keyUrl":                        "the vault decides by the identity of the disk encryption set",
	"keyvaultproperties.keyvaulturi":          "the vault decides by the identity of the account",
	"properties.vaultUri":                     "it is the name of the new vault",
	"templateLink.uri":                        "deployments are refused",
	"parametersLink.uri":                      "deployments are refused",
	"source.scriptUri":                        "the VM reads it, with a signature or its own identity",
	"properties.outputBlobUri":                "the VM writes it, with a signature or its own identity",
	"properties.errorBlobUri":                 "the VM writes it, with a signature or its own identity",
	"storageBlobs[].blobUrl":                  "resourceId beside it is the ID of the account",
	"microsoftFabric[].ingestionUri":          "the service decides by the identity of the rule",
	"communityGalleryInfo.publisherUri":       "it is a text for readers",
	"properties.releaseNoteUri":               "it is a text for readers",
	"properties.privacyStatementUri":          "it is a text for readers",
	"properties.repositoryUrl":                "the cluster reads it",
	"ociRepository.url":                       "the cluster reads it",
	"gitRepository.url":                       "the cluster reads it",
	"bucket.url":                              "the cluster reads it",
	"azureBlob.url":                           "the cluster reads it, with credentials of the configuration",
	"issuer.url":                              "the issuer is public",
}

// TestEveryURLIsDecided finds the properties of all types that name something by a URL, or an image of a shared gallery. Each is refused
// with a lent identity, or has a reason why it is not.
func TestEveryURLIsDecided(t *testing.T) {
	seen, refused := map[string]bool{}, 0
	for _, resourceType := range lent.ListTypes() {
		for _, version := range schema.Versions(resourceType) {
			definition, ok := schema.LookupDefinition(resourceType, version)
			if !ok {
				continue
			}
			definition.WalkProperties(func(path string, shape schema.Shape) {
				steps := strings.Split(path, ".")
				name := strings.ToLower(strings.TrimSuffix(steps[len(steps)-1], "[]"))
				named := slices.ContainsFunc([]string{"uri", "url", "uris", "urls", "vhdcontainers", "sharedgalleryimageid"},
					func(end string) bool { return strings.HasSuffix(name, end) })
				if !named || shape.Type != "string" {
					return
				}
				if lent.IsFileProperty(path) {
					refused++
					return
				}
				end := strings.Join(steps[max(0, len(steps)-2):], ".")
				seen[end] = true
				if ownerlessURLs[end] == "" {
					t.Errorf("%s of %s is not refused with a lent identity, and has no reason", path, resourceType)
				}
			})
		}
	}
	for end := range ownerlessURLs {
		if !seen[end] {
			t.Errorf("no property ends with %s", end)
		}
	}
	if refused < 10 {
		t.Errorf("only %d properties are refused", refused)
	}
}
