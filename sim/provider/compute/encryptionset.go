package compute

import (
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// EncryptionSets is the type of keys that disks are encrypted with.
const EncryptionSets = "Microsoft.Compute/diskEncryptionSets"

// confidentialKey is the encryption type of sets for the OS disks of confidential VMs; they are for nothing else.
// Source: the SDK model of DiskEncryptionSetType.
const confidentialKey = "ConfidentialVmEncryptedWithCustomerKey"

var encryptionTypes = []string{"EncryptionAtRestWithCustomerKey", "EncryptionAtRestWithPlatformAndCustomerKeys", confidentialKey}

func encryptionSetType() *provider.Type {
	return &provider.Type{
		Name: EncryptionSets, Style: provider.Disk, AcceptedStatus: 202, DeleteRetryAfter: -1, StateNew: "Updating", Echoes: []string{"name"},
		Create:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: 100 * time.Millisecond},
		Delete:        provider.Timing{HTTP: 300 * time.Millisecond, LRO: 100 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.previousKeys", "properties.lastKeyRotationTimestamp", "properties.autoKeyRotationError"},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			if body.String(d.New, "properties.activeKey.keyUrl") == "" {
				return provider.MissingProperty("diskEncryptionSet.activeKey.keyUrl")
			}
			body.Default(d.New, "properties.encryptionType", encryptionTypes[0])
			if kind := body.String(d.New, "properties.encryptionType"); !slices.Contains(encryptionTypes, kind) {
				return provider.InvalidParameter("diskEncryptionSet.encryptionType",
					"The value '%s' of parameter 'diskEncryptionSet.encryptionType' is invalid. Allowed values are %s.", kind,
					strings.Join(encryptionTypes, ", "))
			}
			return nil
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			user := ""
			for _, ref := range c.Referrers(it.ID) {
				user = ref.From
			}
			for _, disk := range c.List(Disks, "") {
				if store.SameID(body.String(disk.Body, "properties.encryption.diskEncryptionSetId"), it.ID) {
					user = disk.ID
				}
			}
			if user == "" {
				return nil
			}
			return provider.Errorf(409, "OperationNotAllowed", "Disk encryption set '%s' cannot be deleted because it is in use by %s.", it.Name,
				user)
		},
	}
}

// checkEncryptionSet checks the key of one disk. Sets are for the OS disks of confidential VMs, or for all other disks.
func checkEncryptionSet(c *provider.Call, d *provider.Draft, disk body.Object, path string) error {
	for at, confidential := range body.Sorted(map[string]bool{"managedDisk.diskEncryptionSet": false,
		"managedDisk.securityProfile.diskEncryptionSet": true}) {
		if !body.Has(disk, at) {
			continue
		}
		set, err := findReferred(c, body.String(disk, at+".id"), EncryptionSets, path+"."+at, d.Location)
		if err != nil {
			return err
		}
		if kind := body.String(set.Body, "properties.encryptionType"); (kind == confidentialKey) != confidential {
			return provider.InvalidParameter(path+"."+at+".id", "The disk encryption set '%s' of type '%s' cannot be used at %s.%s.", set.ID, kind,
				path, at)
		}
	}
	return nil
}
