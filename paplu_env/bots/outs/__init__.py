"""`outs`, our rule agent: exact distance and live outs, and weights fitted to played deals."""
