track("visit");
