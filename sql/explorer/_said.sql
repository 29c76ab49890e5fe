array_to_string(list_transform(list_sort({{.}}), lambda t: t.said), '; '){{/* of the rows of a page: sorted aggregates of all deals take long; without the end of the line */ -}}
