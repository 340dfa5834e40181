package server_test

import "encoding/base64"

const (
	net  = groupA + "/providers/Microsoft.Network"
	comp = groupA + "/providers/Microsoft.Compute"
)

func newRef(id string) obj { return obj{"id": id} }

func newRefs(ids ...string) []any {
	out := []any{}
	for _, id := range ids {
		out = append(out, newRef(id))
	}
	return out
}

// createBase makes a group with a security group, a route table, and a network with subnets "cp" (10.0.0.0/24) and "node" (10.1.0.0/24).
func (a *azure) createBase() {
	a.t.Helper()
	a.createGroup()
	a.mustSucceed("PUT", net+"/networkSecurityGroups/nsg",
		obj{"location": "westus3", "properties": obj{"securityRules": []any{allowRule("api", 100, "6443")}}})
	a.mustSucceed("PUT", net+"/routeTables/rt", obj{"location": "westus3", "properties": obj{}})
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet",
		obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}, "subnets": []any{
			obj{"name": "cp", "properties": obj{"addressPrefix": "10.0.0.0/24", "networkSecurityGroup": newRef(net + "/networkSecurityGroups/nsg")}},
			obj{"name": "node", "properties": obj{"addressPrefix": "10.1.0.0/24", "routeTable": newRef(net + "/routeTables/rt")}},
		}}})
}

func allowRule(name string, priority int, port string) obj {
	return obj{"name": name,
		"properties": obj{"protocol": "Tcp", "direction": "Inbound", "access": "Allow", "priority": priority, "sourceAddressPrefix": "*",
			"sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": port}}
}

func publicIP(label string) obj {
	return obj{"location": "westus3", "sku": obj{"name": "Standard"},
		"properties": obj{"publicIPAllocationMethod": "Static", "dnsSettings": obj{"domainNameLabel": label}}}
}

// apiLB returns a public load balancer for port 6443 with frontend "fe", pool "pool" and probe "probe".
func apiLB() obj {
	lb := net + "/loadBalancers/lb"
	return obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "fe", "properties": obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip")}}},
		"backendAddressPools":      []any{obj{"name": "pool"}},
		"probes": []any{obj{"name": "probe",
			"properties": obj{"protocol": "Tcp", "port": 6443, "intervalInSeconds": 15, "numberOfProbes": 4}}},
		"loadBalancingRules": []any{obj{"name": "api",
			"properties": obj{"protocol": "Tcp", "frontendPort": 443, "backendPort": 6443,
				"frontendIPConfiguration": newRef(lb + "/frontendIPConfigurations/fe"),
				"backendAddressPool":      newRef(lb + "/backendAddressPools/pool"), "probe": newRef(lb + "/probes/probe")}}},
	}}
}

func newNIC(subnet string, more obj) obj {
	p := obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/" + subnet)}
	for k, v := range more {
		p[k] = v
	}
	return obj{"location": "westus3", "properties": obj{"ipConfigurations": []any{obj{"name": "pipConfig", "properties": p}}}}
}

var cloudInit = base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))

// newVM returns a valid virtual machine on the interface nic; change edits its properties.
func newVM(nicName string, change func(p obj)) obj {
	p := obj{
		"hardwareProfile": obj{"vmSize": "Standard_D2s_v3"},
		"storageProfile": obj{
			"imageReference": obj{"communityGalleryImageId": "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.33.1"},
			"osDisk": obj{"createOption": "FromImage", "deleteOption": "Delete", "diskSizeGB": 64,
				"managedDisk": obj{"storageAccountType": "Premium_LRS"}},
			"dataDisks": []any{obj{"name": "etcd", "lun": 0, "createOption": "Empty", "diskSizeGB": 16, "deleteOption": "Detach"}},
		},
		"osProfile": obj{"computerName": "cp-0", "adminUsername": "capi", "customData": cloudInit,
			"linuxConfiguration": obj{"disablePasswordAuthentication": true,
				"ssh": obj{"publicKeys": []any{obj{"path": "/home/capi/.ssh/authorized_keys", "keyData": "ssh-rsa AAAA"}}}}},
		"networkProfile": obj{"networkInterfaces": newRefs(net + "/networkInterfaces/" + nicName)},
	}
	if change != nil {
		change(p)
	}
	return obj{"location": "westus3", "zones": []any{"1"}, "properties": p}
}

// createMachine makes base, load balancer, interface "nic0" in pool and a running VM "vm0".
func (a *azure) createMachine() {
	a.t.Helper()
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/pip", publicIP("api"))
	a.mustSucceed("PUT", net+"/loadBalancers/lb", apiLB())
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0",
		newNIC("cp", obj{"loadBalancerBackendAddressPools": newRefs(net + "/loadBalancers/lb/backendAddressPools/pool")}))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil))
}
