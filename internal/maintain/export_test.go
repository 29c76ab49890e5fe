package maintain

// FindRemovable is for tests in which others work on the lake at the same time.
var FindRemovable = findRemovable
