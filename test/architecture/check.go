package architecture

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// checkImports checks every file against the first import rule for its directory, and all files against the imports
// that are forbidden everywhere.
func checkImports(files []file) []string {
	dirs := map[string]bool{}
	for _, f := range files {
		dirs[f.dir] = true
	}
	var findings []string
	for _, f := range files {
		index := slices.IndexFunc(importRules, func(r importRule) bool { return coversAny(r.dirs, f.dir) })
		if index < 0 {
			findings = append(findings,
				fmt.Sprintf("%s: no import rule covers %s; add a rule with its allowed imports and the reason to test/architecture/rules.go", f.path,
					f.dir))
			continue
		}
		rule := importRules[index]
		for _, name := range f.importPaths() {
			for _, never := range neverInside {
				if coversAny(never.dirs, f.dir) && coversAny(never.inside, name) && dirs[name] {
					findings = append(findings, fmt.Sprintf("%s imports %s: %s", f.path, name, never.why))
				}
			}
			if f.test && !rule.tests {
				continue
			}
			if !rule.allowsImport(f.dir, name, dirs) {
				findings = append(findings, fmt.Sprintf("%s imports %s: %s", f.path, name, rule.why))
			}
		}
	}
	return sortFindings(findings)
}

func (r importRule) allowsImport(dir, name string, dirs map[string]bool) bool {
	switch {
	case dirs[name]:
		return name == dir || coversAny(r.inside, name)
	case isStandard(name, dirs):
		return !coversAny(r.notStandard, name)
	default:
		return slices.Contains(r.outside, "...") || coversAny(r.outside, name)
	}
}

// checkNames looks for banned names.
func checkNames(files []file) []string {
	var findings []string
	for _, f := range files {
		for _, rule := range nameRules {
			if !coversAny(rule.dirs, f.dir) || coversAny(rule.except, f.dir) || f.test != (rule.files == testFiles) {
				continue
			}
			for position, name := range f.usedNames() {
				if slices.ContainsFunc(rule.names, func(banned string) bool {
					prefix, all := strings.CutSuffix(banned, "*")
					return name == banned || all && strings.HasPrefix(name, prefix)
				}) {
					findings = append(findings, fmt.Sprintf("%s uses %s: %s", position, name, rule.why))
				}
			}
		}
	}
	return sortFindings(findings)
}

// checkSkips looks for tests that leave themselves out.
func checkSkips(files []file) []string {
	var findings []string
	for _, f := range files {
		if !f.test {
			continue
		}
		for position, method := range f.methodCalls("t", "Skip", "Skipf", "SkipNow") {
			findings = append(findings, fmt.Sprintf("%s calls t.%s: a test that is left out looks like one that passes", position, method))
		}
	}
	return sortFindings(findings)
}

// checkDocs checks that each package has one doc comment. If all files of a package are tests, one of them has it.
func checkDocs(files []file) []string {
	production := map[string]bool{}
	for _, f := range files {
		production[f.dir] = production[f.dir] || !f.test
	}
	documented := map[string][]string{}
	for _, f := range files {
		if f.test && production[f.dir] {
			continue
		}
		if _, ok := documented[f.dir]; !ok {
			documented[f.dir] = nil
		}
		if f.syntax.Doc != nil && strings.TrimSpace(f.syntax.Doc.Text()) != "" {
			documented[f.dir] = append(documented[f.dir], path.Base(f.path))
		}
	}
	var findings []string
	for dir, docs := range documented {
		if len(docs) == 0 {
			findings = append(findings, dir+": the package has no doc comment; describe its guarantees (blocking, repeatable, effects)")
		}
		if len(docs) > 1 {
			findings = append(findings,
				fmt.Sprintf("%s: %s each have a package doc comment; go doc joins them in an arbitrary order", dir, strings.Join(docs, ", ")))
		}
	}
	return sortFindings(findings)
}

// checkFiles looks at sizes and package names.
func checkFiles(files []file) []string {
	var findings []string
	vague := map[string]bool{}
	for _, f := range files {
		if f.lines > maxLines && !f.generated {
			findings = append(findings,
				fmt.Sprintf("%s has %d lines: split it by what its parts are about, %d is the limit", f.path, f.lines, maxLines))
		}
		name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
		if slices.Contains(vagueNames, name) || slices.Contains(vagueNames, path.Base(f.dir)) {
			vague[f.dir] = true
		}
	}
	for dir := range vague {
		findings = append(findings, dir+": name the package for its content, so that readers find it")
	}
	return sortFindings(findings)
}

// sortFindings puts findings in order, each once.
func sortFindings(findings []string) []string {
	set := map[string]bool{}
	for _, finding := range findings {
		set[finding] = true
	}
	return slices.Sorted(maps.Keys(set))
}
