package crd_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// machineRows are the rules of creation that AzureMachines and the templates of AzureMachines have in common.
func machineRows() map[string]row {
	disk := func(fields string) string { return "{osDisk: {" + fields + "}}" }
	disks := func(disks string) string { return "{dataDisks: [" + disks + "]}" }
	confidential := func(encryption, profile string) string {
		return "{osDisk: {managedDisk: {securityProfile: {securityEncryptionType: " + encryption + "}}}, securityProfile: {" + profile + "}}"
	}
	const (
		whole    = "securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true, secureBootEnabled: true}"
		identity = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
		key      = "managedDisk: {diskEncryptionSet: {id: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/diskEncryptionSets/d}}"
	)
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf("{nameSuffix: d%d, diskSizeGB: 4}", i)
	}
	return map[string]row{
		"minimal": {reason: "what defaulting makes of the smallest spec is valid"},

		"image by ID":             {reason: "one way is enough", spec: "{image: {id: i}}"},
		"image by nothing":        {reason: "an image is named somehow", spec: "{image: {}}", want: []string{"image: exactly one of id, marketplace"}},
		"image twice":             {reason: "an image is named in one way", spec: "{image: {id: i, marketplace: {publisher: p, offer: o, sku: s, version: v}}}", want: []string{"image: exactly one of id, marketplace"}},
		"image in two galleries":  {reason: "an image is named in one way", spec: "{image: {sharedGallery: {subscriptionID: s, resourceGroup: r, gallery: g, name: i, version: v}, computeGallery: {gallery: g, name: i, version: v}}}", want: []string{"image: exactly one of id, marketplace"}},
		"image by empty ID":       {reason: "an ID says something", spec: `{image: {id: ""}}`, want: []string{"image.id: at least 1"}},
		"marketplace":             {reason: "a marketplace image has four parts", spec: "{image: {marketplace: {publisher: p, offer: o, sku: s, version: v, thirdPartyImage: true}}}"},
		"marketplace, parts":      {reason: "a marketplace image has four parts", spec: "{image: {marketplace: {}}}", want: []string{"image.marketplace.publisher: at least 1", "image.marketplace.offer: at least 1", "image.marketplace.sku: at least 1", "image.marketplace.version: at least 1"}},
		"shared gallery":          {reason: "a shared image has five parts", spec: "{image: {sharedGallery: {subscriptionID: s, resourceGroup: r, gallery: g, name: i, version: v}}}"},
		"shared gallery, parts":   {reason: "a shared image has five parts", spec: "{image: {sharedGallery: {}}}", want: []string{"image.sharedGallery.subscriptionID: at least 1", "image.sharedGallery.resourceGroup: at least 1", "image.sharedGallery.gallery: at least 1", "image.sharedGallery.name: at least 1", "image.sharedGallery.version: at least 1"}},
		"community gallery":       {reason: "a community gallery is nobody's", spec: "{image: {computeGallery: {gallery: g, name: i, version: v}}}"},
		"private gallery":         {reason: "a private gallery has an owner and a group", spec: "{image: {computeGallery: {gallery: g, name: i, version: v, subscriptionID: s, resourceGroup: r, plan: {publisher: p, offer: o, sku: s}}}}"},
		"gallery, parts":          {reason: "a gallery image has three parts", spec: "{image: {computeGallery: {}}}", want: []string{"image.computeGallery.gallery: at least 1", "image.computeGallery.name: at least 1", "image.computeGallery.version: at least 1"}},
		"gallery without a group": {reason: "a private gallery is in a group", spec: "{image: {computeGallery: {gallery: g, name: i, version: v, subscriptionID: s}}}", want: []string{"image.computeGallery.resourceGroup: go together"}},
		"gallery without owner":   {reason: "a private gallery is in a subscription", spec: "{image: {computeGallery: {gallery: g, name: i, version: v, resourceGroup: r}}}", want: []string{"image.computeGallery.subscriptionID: go together"}},

		"OS disk of 0":       {reason: "an OS disk has a size", spec: disk("diskSizeGB: 0"), want: []string{"osDisk.diskSizeGB: 1"}},
		"OS disk of 1":       {reason: "Azure checks the size against the image", spec: disk("diskSizeGB: 1")},
		"OS disk of 2048":    {reason: "an OS disk has at most 2 TiB", spec: disk("diskSizeGB: 2048")},
		"OS disk of 2049":    {reason: "an OS disk has at most 2 TiB", spec: disk("diskSizeGB: 2049"), want: []string{"osDisk.diskSizeGB: 2048"}},
		"OS":                 {reason: "there is an operating system", spec: disk(`osType: ""`), want: []string{"osDisk.osType: at least 1"}},
		"Windows":            {reason: "this is one", spec: disk("osType: Windows")},
		"OS disk caching":    {reason: "there are three ways", spec: disk("cachingType: Write"), want: []string{"osDisk.cachingType: Unsupported value"}},
		"OS disk, cached":    {reason: "this is one", spec: disk("cachingType: ReadOnly")},
		"OS disk, no type":   {reason: "a managed disk without a type takes Azure's", spec: disk("managedDisk: {}")},
		"OS disk type":       {reason: "the type is one of Azure's", spec: disk("managedDisk: {storageAccountType: Fast}"), want: []string{"osDisk.managedDisk.storageAccountType: Unsupported value"}},
		"OS disk, zones":     {reason: "the type is one of Azure's", spec: disk("managedDisk: {storageAccountType: Premium_ZRS}")},
		"ultra OS disk":      {reason: "ultra disks are for data", spec: disk("managedDisk: {storageAccountType: UltraSSD_LRS}"), want: []string{"osDisk.managedDisk.storageAccountType: data disk only"}},
		"OS disk with a key": {reason: "a disk of one's own may have a key of one's own", spec: disk(key)},
		"ephemeral, keyed":   {reason: "an ephemeral disk has no key of its own", spec: disk("diffDiskSettings: {option: Local}, " + key), want: []string{"osDisk.managedDisk.diskEncryptionSet: ephemeral"}},
		"ephemeral":          {reason: "a local disk has a place", spec: disk("diffDiskSettings: {option: Local, placement: NvmeDisk}")},
		"ephemeral, where":   {reason: "there are three places", spec: disk("diffDiskSettings: {option: Local, placement: Elsewhere}"), want: []string{"osDisk.diffDiskSettings.placement: Unsupported value"}},
		"ephemeral, how":     {reason: "only a local disk has a place", spec: disk("diffDiskSettings: {placement: CacheDisk}"), want: []string{"osDisk.diffDiskSettings.option: Unsupported value"}},
		"guest state key":    {reason: "the guest state alone has no key of its own", spec: disk("managedDisk: {securityProfile: {diskEncryptionSet: {id: d}, securityEncryptionType: VMGuestStateOnly}}"), want: []string{"osDisk.managedDisk.securityProfile.diskEncryptionSet: DiskWithVMGuestState"}},
		"disk key":           {reason: "the disk with the guest state has", spec: disk("managedDisk: {securityProfile: {diskEncryptionSet: {id: d}, securityEncryptionType: DiskWithVMGuestState}}")},
		"encryption":         {reason: "there are two types", spec: disk("managedDisk: {securityProfile: {securityEncryptionType: Disk}}"), want: []string{"osDisk.managedDisk.securityProfile.securityEncryptionType: Unsupported value"}},

		"data disks":         {reason: "data disks have 4 GiB to 32 TiB", spec: disks("{nameSuffix: a, diskSizeGB: 4, managedDisk: {storageAccountType: UltraSSD_LRS}}, {nameSuffix: b, diskSizeGB: 32767, lun: 63}, {nameSuffix: c, diskSizeGB: 5, lun: 0}")},
		"data disk of 3":     {reason: "data disks have 4 GiB to 32 TiB", spec: disks("{nameSuffix: a, diskSizeGB: 3}"), want: []string{"dataDisks[0].diskSizeGB: 4"}},
		"data disk of 32768": {reason: "data disks have 4 GiB to 32 TiB", spec: disks("{nameSuffix: a, diskSizeGB: 32768}"), want: []string{"dataDisks[0].diskSizeGB: 32767"}},
		"data disk, no size": {reason: "a data disk has a size", spec: disks("{nameSuffix: a}"), want: []string{"dataDisks[0].diskSizeGB: 4"}},
		"data disk, no name": {reason: "disks are known by name", spec: disks("{diskSizeGB: 4}"), want: []string{"dataDisks[0].nameSuffix: at least 1"}},
		"data disk, name":    {reason: "Azure's names have 80 characters", spec: disks("{diskSizeGB: 4, nameSuffix: " + strings.Repeat("d", 79) + "}"), want: []string{"dataDisks[0].nameSuffix: 78"}},
		"data disk names":    {reason: "disks are known by name", spec: disks("{nameSuffix: a, diskSizeGB: 4}, {nameSuffix: a, diskSizeGB: 4}"), want: []string{"dataDisks: a nameSuffix of its own"}},
		"data disk, lun -1":  {reason: "units are few", spec: disks("{nameSuffix: a, diskSizeGB: 4, lun: -1}"), want: []string{"dataDisks[0].lun: 0"}},
		"data disk, lun 64":  {reason: "units are few", spec: disks("{nameSuffix: a, diskSizeGB: 4, lun: 64}"), want: []string{"dataDisks[0].lun: 63"}},
		"data disk units":    {reason: "a unit is one disk's", spec: disks("{nameSuffix: a, diskSizeGB: 4, lun: 1}, {nameSuffix: b, diskSizeGB: 4, lun: 1}"), want: []string{"dataDisks: a lun of its own"}},
		"64 data disks":      {reason: "there are 64 units", spec: disks(strings.Join(many[:64], ", "))},
		"65 data disks":      {reason: "there are 64 units", spec: disks(strings.Join(many, ", ")), want: []string{"dataDisks: at most 64", "dataDisks[64].lun: 63"}},
		"data disk caching":  {reason: "there are three ways", spec: disks("{nameSuffix: a, diskSizeGB: 4, cachingType: Write}"), want: []string{"dataDisks[0].cachingType: Unsupported value"}},
		"ultra data disk":    {reason: "ultra disks are not cached", spec: disks("{nameSuffix: a, diskSizeGB: 4, cachingType: ReadOnly, managedDisk: {storageAccountType: UltraSSD_LRS}}"), want: []string{"dataDisks[0].cachingType: needs None"}},
		"data disk type":     {reason: "the type is one of Azure's", spec: disks("{nameSuffix: a, diskSizeGB: 4, managedDisk: {storageAccountType: Fast}}"), want: []string{"dataDisks[0].managedDisk.storageAccountType: Unsupported value"}},

		"confidential":         {reason: "a complete confidential VM is valid", spec: confidential("DiskWithVMGuestState", whole)},
		"confidential state":   {reason: "the guest state alone needs no secure boot, and may be encrypted on the host", spec: confidential("VMGuestStateOnly", "securityType: ConfidentialVM, encryptionAtHost: true, uefiSettings: {vTpmEnabled: true}")},
		"confidential type":    {reason: "encrypted disks are for confidential VMs", spec: confidential("VMGuestStateOnly", "securityType: TrustedLaunch, uefiSettings: {vTpmEnabled: true}"), want: []string{"securityProfile.securityType: ConfidentialVM"}},
		"confidential no type": {reason: "encrypted disks are for confidential VMs", spec: confidential("VMGuestStateOnly", "uefiSettings: {vTpmEnabled: true}"), want: []string{"securityProfile.securityType: ConfidentialVM"}},
		"confidential UEFI":    {reason: "a confidential VM has a TPM", spec: confidential("VMGuestStateOnly", "securityType: ConfidentialVM"), want: []string{"securityProfile.uefiSettings.vTpmEnabled: true"}},
		"confidential TPM":     {reason: "a confidential VM has a TPM", spec: confidential("VMGuestStateOnly", "securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: false}"), want: []string{"securityProfile.uefiSettings.vTpmEnabled: true"}},
		"confidential boot":    {reason: "a VM with an encrypted disk boots securely", spec: confidential("DiskWithVMGuestState", "securityType: ConfidentialVM, uefiSettings: {vTpmEnabled: true}"), want: []string{"securityProfile.uefiSettings.secureBootEnabled: DiskWithVMGuestState"}},
		"confidential host":    {reason: "a disk is encrypted once", spec: confidential("DiskWithVMGuestState", "encryptionAtHost: true, "+whole), want: []string{"securityProfile.encryptionAtHost: DiskWithVMGuestState"}},
		"trusted launch":       {reason: "trusted launch is for ordinary disks", spec: "{securityProfile: {securityType: TrustedLaunch, encryptionAtHost: true}}"},
		"security type":        {reason: "there are two types", spec: "{securityProfile: {securityType: Standard}}", want: []string{"securityProfile.securityType: Unsupported value"}},

		"SSH key not base64": {reason: "the key is in base64", spec: "{sshPublicKey: ssh-ed25519 AAAA}", want: []string{"sshPublicKey: base64"}, webhook: true},
		"SSH key not a key":  {reason: "the key is a line of authorized_keys", spec: "{sshPublicKey: bm9wZQ==}", want: []string{"sshPublicKey: SSH public key"}, webhook: true},

		"identity":               {reason: "there are three kinds", spec: "{identity: Both}", want: []string{"identity: Unsupported value"}},
		"user-assigned":          {reason: "an identity may have azure:// before it", spec: "{identity: UserAssigned, userAssignedIdentities: [{providerID: " + identity + "}, {providerID: azure://" + identity + "2}]}"},
		"user-assigned missing":  {reason: "somebody has to be assigned", spec: "{identity: UserAssigned}", want: []string{"userAssignedIdentities: at least one"}},
		"user-assigned, nobody":  {reason: "somebody has to be assigned", spec: "{identity: UserAssigned, userAssignedIdentities: []}", want: []string{"userAssignedIdentities: at least one"}},
		"user-assigned unasked":  {reason: "identities without identity: UserAssigned would be ignored", spec: "{userAssignedIdentities: [{providerID: " + identity + "}]}", want: []string{"userAssignedIdentities: needs identity: UserAssigned"}},
		"user-assigned, by name": {reason: "identities are named by ID", spec: "{identity: UserAssigned, userAssignedIdentities: [{providerID: i}]}", want: []string{"userAssignedIdentities[0].providerID: userAssignedIdentities/"}},
		"system-assigned":        {reason: "the role has defaults", spec: "{identity: SystemAssigned}"},
		"role":                   {reason: "a role has a scope and a definition", spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {scope: /subscriptions/s, definitionID: /d}}"},
		"role of nobody":         {reason: "a role needs somebody to play it", spec: "{systemAssignedIdentityRole: {scope: /subscriptions/s}}", want: []string{"systemAssignedIdentityRole: needs identity: SystemAssigned"}},

		"own storage":         {reason: "diagnostics can be kept in one's own account", spec: "{diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: 'https://a.blob.core.windows.net/'}}}}"},
		"own storage missing": {reason: "one's own account has an address", spec: "{diagnostics: {boot: {storageAccountType: UserManaged}}}", want: []string{"diagnostics.boot.userManaged: storageAccountURI"}},
		"own storage, empty":  {reason: "one's own account has an address", spec: "{diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {}}}}", want: []string{"diagnostics.boot.userManaged.storageAccountURI: should match"}},
		"own storage, http":   {reason: "Azure wants TLS", spec: "{diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: 'http://a'}}}}", want: []string{"diagnostics.boot.userManaged.storageAccountURI: should match"}},
		"own storage of 1025": {reason: "a URI has 1024 characters", spec: "{diagnostics: {boot: {storageAccountType: UserManaged, userManaged: {storageAccountURI: 'https://" + strings.Repeat("a", 1017) + "'}}}}", want: []string{"diagnostics.boot.userManaged.storageAccountURI: 1024"}},
		"storage unasked":     {reason: "an account without storageAccountType: UserManaged would be ignored", spec: "{diagnostics: {boot: {storageAccountType: Managed, userManaged: {storageAccountURI: 'https://a'}}}}", want: []string{"diagnostics.boot.userManaged: needs storageAccountType: UserManaged"}},
		"storage for nothing": {reason: "an account without storageAccountType: UserManaged would be ignored", spec: "{diagnostics: {boot: {storageAccountType: Disabled, userManaged: {storageAccountURI: 'https://a'}}}}", want: []string{"diagnostics.boot.userManaged: needs storageAccountType: UserManaged"}},
		"storage":             {reason: "there are three kinds", spec: "{diagnostics: {boot: {storageAccountType: Own}}}", want: []string{"diagnostics.boot.storageAccountType: Unsupported value"}},

		"eviction":                   {reason: "there are two ways", spec: "{spotVMOptions: {evictionPolicy: Stop}}", want: []string{"spotVMOptions.evictionPolicy: Unsupported value"}},
		"spot":                       {reason: "prices are quantities", spec: "{spotVMOptions: {evictionPolicy: Delete, maxPrice: 0.05}}"},
		"interfaces":                 {reason: "an interface has an address unless it says how many", spec: "{networkInterfaces: [{subnetName: a, privateIPConfigs: 2}, {privateIPConfigs: 0}]}"},
		"no addresses":               {reason: "an interface has an address", spec: "{networkInterfaces: [{privateIPConfigs: -1}]}", want: []string{"networkInterfaces[0].privateIPConfigs: greater than or equal to 0"}},
		"deprecated subnet":          {reason: "the deprecated fields become an interface", spec: "{subnetName: a, acceleratedNetworking: true}"},
		"both subnets":               {reason: "which subnet is meant is the user's to say", spec: "{subnetName: a, networkInterfaces: [{subnetName: b}]}", want: []string{"subnetName: networkInterfaces[0].subnetName"}},
		"both accelerations":         {reason: "which interface is meant is the user's to say", spec: "{acceleratedNetworking: false, networkInterfaces: [{}]}", want: []string{"acceleratedNetworking: networkInterfaces[0].acceleratedNetworking"}},
		"capacity reservation":       {reason: "the group is named by ID", spec: "{capacityReservationGroupID: g}", want: []string{"capacityReservationGroupID: capacityReservationGroups/"}},
		"capacity reservation by ID": {reason: "this is one", spec: "{capacityReservationGroupID: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c}"},
		"scale set, lower case":      {reason: "Azure writes IDs in any case", spec: "{virtualMachineScaleSetID: /subscriptions/s/resourcegroups/g/providers/microsoft.compute/virtualmachinescalesets/v}"},
		"scale set, VM":              {reason: "a VM is not a scale set", spec: "{virtualMachineScaleSetID: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v}", want: []string{"virtualMachineScaleSetID: virtualMachineScaleSets/"}},
		"scale set":                  {reason: "an ID may have azure:// before it", spec: "{virtualMachineScaleSetID: 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v'}"},
		"scale set instance":         {reason: "an instance is not a scale set", spec: "{virtualMachineScaleSetID: /subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0}", want: []string{"virtualMachineScaleSetID: virtualMachineScaleSets/"}},
		"extensions":                 {reason: "extensions are allowed by default", spec: "{disableExtensionOperations: false, vmExtensions: [{name: e, publisher: p, version: v}]}"},
		"extensions forbidden":       {reason: "extensions that are forbidden would fail", spec: "{disableExtensionOperations: true, vmExtensions: [{name: e, publisher: p, version: v}]}", want: []string{"vmExtensions: disableExtensionOperations forbids"}},
		"no extensions":              {reason: "none are forbidden", spec: "{disableExtensionOperations: true, vmExtensions: []}"},
		"extension, parts":           {reason: "an extension has a publisher, a type and a version", spec: "{vmExtensions: [{}]}", want: []string{"vmExtensions[0].name: at least 1", "vmExtensions[0].publisher: at least 1", "vmExtensions[0].version: at least 1"}},
	}
}

func TestAzureMachineCreation(t *testing.T) {
	table := machineRows()
	maps.Copy(table, map[string]row{
		"no size":         {reason: "a VM has a size", spec: "{vmSize: null}", want: []string{"vmSize: name the size"}},
		"role by UUID":    {reason: "Azure names role assignments by UUID", spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2}}"},
		"role by name":    {reason: "Azure names role assignments by UUID", spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: mine}}", want: []string{"systemAssignedIdentityRole.name: UUID"}},
		"old role name":   {reason: "the deprecated name moves", spec: "{identity: SystemAssigned, roleAssignmentName: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2}"},
		"role for nobody": {reason: "a role needs somebody to play it", spec: "{roleAssignmentName: r}", want: []string{"roleAssignmentName: needs identity: SystemAssigned"}},
		"both role names": {reason: "which name is meant is the user's to say", spec: "{identity: SystemAssigned, roleAssignmentName: a, systemAssignedIdentityRole: {name: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2}}", want: []string{"roleAssignmentName: deprecated name"}},
	})
	azureMachine.check(t, table)
}

func TestAzureMachineTemplateCreation(t *testing.T) {
	table := machineRows()
	const ownRole = "every machine needs a role assignment of its own"
	maps.Copy(table, map[string]row{
		"role name":       {reason: "machines cannot share a role assignment", spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {name: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2}}", want: []string{"systemAssignedIdentityRole.name: " + ownRole}},
		"old role name":   {reason: "machines cannot share a role assignment", spec: "{identity: SystemAssigned, roleAssignmentName: a}", want: []string{"roleAssignmentName: " + ownRole}},
		"role for nobody": {reason: "a role needs somebody to play it", spec: "{roleAssignmentName: a}", want: []string{"roleAssignmentName: " + ownRole, "roleAssignmentName: needs identity: SystemAssigned"}},
		"part of a role":  {reason: "machines that are made from it get the rest", spec: "{identity: SystemAssigned, systemAssignedIdentityRole: {scope: /subscriptions/s}}"},
	})
	azureMachineTemplate.check(t, table)
}
