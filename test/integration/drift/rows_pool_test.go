package drift_test

// poolRows returns the rows of a scale set. Tests in test/integration/pools change single VMs of one.
func poolRows() []row {
	const repairs = "properties.automaticRepairsPolicy.enabled"
	return []row{
		tagAdded("Scale set", pool, vmss),
		keptRow("Scale set", "automatic repairs are turned on", "the spec has no field for them", pool, vmss,
			body{"properties": body{"automaticRepairsPolicy": body{"enabled": true, "gracePeriod": "PT30M"}}}, repairs, true),
		tagChanged("Scale set", pool, vmss),
		disownedRow("Scale set", pool, vmss, "c1"),
		strippedRow("Scale set", pool, vmss),
		editedRow("Scale set", "the model of its VMs is changed", "existing VMs do not change", pool, vmss,
			body{"properties": body{"virtualMachineProfile": body{"diagnosticsProfile": body{"bootDiagnostics": body{"enabled": false}}}}}),
	}
}
