package answer

import "strings"

// This file reads DuckDB's names of nested types, as the driver spells them: BIGINT[], BIGINT[3], MAP(VARCHAR, DATE),
// STRUCT("a" DATE, "b ""c""" VARCHAR). Names of members are always quoted. Of a type of another form a part is "".

// elementType returns the type of a list's or an array's elements.
func elementType(typ string) string {
	at := strings.LastIndexByte(typ, '[')
	if at < 0 || !strings.HasSuffix(typ, "]") {
		return ""
	}
	return typ[:at]
}

// mapTypes returns the types of a map's keys and values.
func mapTypes(typ string) (key, value string) {
	parts := typeParts(typ, "MAP(")
	if len(parts) != 2 {
		return "", ""
	}
	return parts[0], parts[1]
}

// memberTypes returns the types of a struct's members by name.
func memberTypes(typ string) map[string]string {
	types := map[string]string{}
	for _, part := range typeParts(typ, "STRUCT(") {
		end := strings.LastIndex(part[:nameEnd(part)], `"`)
		if end < 1 {
			continue
		}
		types[strings.ReplaceAll(part[1:end], `""`, `"`)] = strings.TrimPrefix(part[end+1:], " ")
	}
	return types
}

// nameEnd returns where the quoted name at the beginning of a member ends.
func nameEnd(member string) int {
	quoted := false
	for i := range len(member) {
		if member[i] == '"' {
			quoted = !quoted
		} else if !quoted {
			return i
		}
	}
	return len(member)
}

// typeParts splits what is between a beginning and the last parenthesis at its commas outside of quotes and parentheses.
func typeParts(typ, begin string) (parts []string) {
	inside, ok := strings.CutPrefix(typ, begin)
	if !ok || !strings.HasSuffix(inside, ")") {
		return nil
	}
	inside = inside[:len(inside)-1]
	quoted, depth, from := false, 0, 0
	for i := range len(inside) {
		switch c := inside[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, strings.TrimSpace(inside[from:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(inside[from:]))
}
