package maintain

// FindWaste is for tests that look at a lake while others work on it.
var FindWaste = findWaste
