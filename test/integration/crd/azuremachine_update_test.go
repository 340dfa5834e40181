package crd_test

import "testing"

// Rules of AzureMachine about fields that cannot change; those of single fields of the spec are in TestAzureMachineRules.
func TestAzureMachineChanges(t *testing.T) {
	const (
		identity   = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
		identities = "{identity: UserAssigned, userAssignedIdentities: [{providerID: " + identity + "}]}"
		role       = "{identity: SystemAssigned, systemAssignedIdentityRole: {name: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a2, scope: /s, definitionID: /d}}"
		extension  = "{vmExtensions: [{name: e, publisher: p, version: v, protectedSettings: {a: b}}]}"
		again      = "make a new machine"
	)
	azureMachine.check(t, map[string]row{
		"size and zone":        {reason: "what only new machines read is not frozen", change: `{vmSize: Standard_D4s_v5, failureDomain: "1", dnsServers: [10.0.0.4], additionalCapabilities: {ultraSSDEnabled: true}}`},
		"image":                {reason: "a VM is not made twice", change: "{image: {id: i}}", want: []string{"image: " + again}},
		"image changed":        {reason: "a VM is not made twice", spec: "{image: {id: i}}", change: "{image: {id: j}}", want: []string{"image: " + again}},
		"image removed":        {reason: "a VM is not made twice", spec: "{image: {id: i}}", change: "{image: null}", want: []string{"image: " + again}},
		"image, default":       {reason: "what defaulting adds is no change", spec: "{image: {marketplace: {publisher: p, offer: o, sku: s, version: v}}}", change: "{image: {marketplace: {thirdPartyImage: null}}}"},
		"OS disk":              {reason: "a VM is not made twice", change: "{osDisk: {diskSizeGB: 64}}", want: []string{"osDisk: " + again}},
		"OS disk type":         {reason: "a VM is not made twice", spec: "{osDisk: {managedDisk: {storageAccountType: Premium_LRS}}}", change: "{osDisk: {managedDisk: {storageAccountType: Standard_LRS}}}", want: []string{"osDisk: " + again}},
		"OS disk, default":     {reason: "what defaulting adds is no change", change: "{osDisk: {cachingType: null, osType: null}}"},
		"security":             {reason: "a VM is not made twice", change: "{securityProfile: {encryptionAtHost: true}}", want: []string{"securityProfile: " + again}},
		"security changed":     {reason: "a VM is not made twice", spec: "{securityProfile: {encryptionAtHost: true}}", change: "{securityProfile: {encryptionAtHost: false}}", want: []string{"securityProfile: " + again}},
		"security removed":     {reason: "a VM is not made twice", spec: "{securityProfile: {encryptionAtHost: true}}", change: "{securityProfile: null}", want: []string{"securityProfile: " + again}},
		"disks":                {reason: "a VM is not made twice", change: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}", want: []string{"dataDisks: " + again}, webhook: true},
		"disk size":            {reason: "a VM is not made twice", spec: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}", change: "{dataDisks: [{nameSuffix: a, diskSizeGB: 8}]}", want: []string{"dataDisks: " + again}, webhook: true},
		"disks, defaults":      {reason: "unit and caching of a manifest without them are those that were filled in", spec: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}", change: "{dataDisks: [{nameSuffix: a, diskSizeGB: 4}]}"},
		"spot":                 {reason: "a VM is not made twice", change: "{spotVMOptions: {}}", want: []string{"spotVMOptions: " + again}, webhook: true},
		"spot price":           {reason: "a VM is not made twice", spec: "{spotVMOptions: {maxPrice: 1}}", change: "{spotVMOptions: {maxPrice: 2}}", want: []string{"spotVMOptions: " + again}, webhook: true},
		"spot price, again":    {reason: "0.50 is 500m", spec: "{spotVMOptions: {maxPrice: 0.50}}", change: "{spotVMOptions: {maxPrice: 500m}}"},
		"diagnostics":          {reason: "a VM is not made twice", spec: "{diagnostics: {boot: {storageAccountType: Managed}}}", change: "{diagnostics: {boot: {storageAccountType: Disabled}}}", want: []string{"diagnostics: " + again}, webhook: true},
		"diagnostics again":    {reason: "the default is what was filled in", change: "{diagnostics: null}"},
		"identity":             {reason: "Azure gives a VM identities in place", change: identities},
		"identity added":       {reason: "Azure gives a VM more identities in place", spec: identities, change: "{userAssignedIdentities: [{providerID: " + identity + "}, {providerID: azure://" + identity + "2}]}"},
		"identity by name":     {reason: "what is added is checked as at creation", spec: identities, change: "{userAssignedIdentities: [{providerID: " + identity + "}, {providerID: i}]}", want: []string{"userAssignedIdentities[1].providerID: userAssignedIdentities/"}},
		"identity removed":     {reason: "it would stay with the VM", spec: identities, change: "{userAssignedIdentities: [{providerID: " + identity + "2}]}", want: []string{"userAssignedIdentities: make a new machine"}, webhook: true},
		"no identity left":     {reason: "the kind of identity stays", spec: identities, change: "{userAssignedIdentities: null}", want: []string{"userAssignedIdentities: at least one"}},
		"identity of nobody":   {reason: "they need the kind", change: "{userAssignedIdentities: [{providerID: " + identity + "}]}", want: []string{"userAssignedIdentities: needs identity: UserAssigned"}},
		"identity, no kind":    {reason: "the kind needs them", change: "{identity: UserAssigned}", want: []string{"userAssignedIdentities: at least one"}},
		"role":                 {reason: "the role is assigned", spec: role, change: "{systemAssignedIdentityRole: {scope: /other}}", want: []string{"systemAssignedIdentityRole.scope: cannot change"}, webhook: true},
		"role name":            {reason: "the role is assigned", spec: role, change: "{systemAssignedIdentityRole: {name: 86bd2d98-0fb9-4b53-9f0e-2d2ee2a4d1a3}}", want: []string{"systemAssignedIdentityRole.name: cannot change"}, webhook: true},
		"role of nobody":       {reason: "the kind of identity stays", change: "{systemAssignedIdentityRole: {scope: /s}}", want: []string{"systemAssignedIdentityRole: needs identity: SystemAssigned"}},
		"role's old name":      {reason: "the role is assigned", spec: role, change: "{roleAssignmentName: a}", want: []string{"roleAssignmentName: is the deprecated name"}},
		"extensions":           {reason: "Azure adds and changes extensions in place", spec: extension, change: "{vmExtensions: [{name: e, publisher: p, version: w, protectedSettings: {a: c}}, {name: f, publisher: p, version: v}]}"},
		"extensions removed":   {reason: "Azure removes extensions", spec: extension, change: "{vmExtensions: null}"},
		"extension's secret":   {reason: "the change would not be found", spec: extension, change: "{vmExtensions: [{name: e, publisher: p, version: v, protectedSettings: {a: c}}]}", want: []string{"vmExtensions[0].protectedSettings: cannot change alone"}, webhook: true},
		"extension on nothing": {reason: "extensions that are forbidden would fail", spec: "{disableExtensionOperations: true}", change: extension, want: []string{"vmExtensions: disableExtensionOperations forbids"}},
		"subnet filled in":     {reason: "the subnet of the first interface is filled in when it is clear", change: "{networkInterfaces: [{subnetName: nodes}]}"},
		"subnet":               {reason: "a network interface does not move", spec: "{subnetName: a}", change: "{networkInterfaces: [{subnetName: b}]}", want: []string{"networkInterfaces: " + again}, webhook: true},
		"subnet, again":        {reason: "a manifest with the deprecated fields can be applied again", spec: "{subnetName: a, acceleratedNetworking: true}", change: "{subnetName: a, acceleratedNetworking: true}"},
		"interface added":      {reason: "a VM is not made twice", change: "{networkInterfaces: [{}, {}]}", want: []string{"networkInterfaces: " + again}, webhook: true},
		"acceleration":         {reason: "the deprecated field can only go", change: "{acceleratedNetworking: true}", want: []string{"acceleratedNetworking: is deprecated and excludes networkInterfaces"}},
		"acceleration, moved":  {reason: "the interface has it", spec: "{acceleratedNetworking: true}", change: "{networkInterfaces: [{acceleratedNetworking: false}]}", want: []string{"networkInterfaces: " + again}, webhook: true},
	})
}
