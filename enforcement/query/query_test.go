package query

import "testing"

func TestAllRead(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1": true, "SELECT count(*) FROM t WHERE a > 1;": true, "select 1; select 'delete'": true, "show tables": true, "explain select * from t": true,
		"with x as (select 1) select * from x": true, "{ viewer { login } }": true, "query($n:Int!){ viewer { login } }": true, "fragment F on U { a } query { x { ...F } }": true,
		"db.t.find({a: 1}).limit(1)": true, "db.t.countDocuments({})": true, "show dbs": true, "printjson(db.serverStatus().connections)": true,
		"db.getCollectionNames().forEach(n => print(n))": true,

		"show create table t": true, "SELECT * FROM t LIMIT 1\\G": true, "select jsonb_pretty(x) from t": true,
		`db.t.find().sort({"createdAt": -1})`: true, `db.t.distinct("updatedAt")`: true, `print("n: " + db.t.countDocuments({}))`: true,

		"select 1\\G; drop table t": false, "select 1\\Gx": false, "show create table t; create table u": false, "create table u": false,
		`db.t.aggregate([{["$o" + "ut"]: "x"}])`: false, "print([1].map(db.t.drop, db.t))": false, "[1].forEach(db.t['drop'])": false,
		"print(['drop', 'a'].map(x => [1].map(db.t[x], db.t)))": false, "print([1].map(db.t['dr' + 'op'], db.t))": false,

		"": false, " ; ": false, "drop table t": false, "select 1; drop table t": false, "select * into x from t": false, "select nextval('s')": false,
		"with x as (delete from t returning *) select * from x": false, "select lo_import('f')": false, "explain analyze delete from t": false,
		"select 'x; select ', lo_import('; select ')": false, "\\! touch f": false, "copy t to program 'x'": false, "mutation { a }": false,
		"query A { a } mutation B { b }": false, "subscription { a }": false,
		"db.t.drop()": false, "db['t'].drop()": false, "db.t['drop']()": false, "db.t[\"drop\"]()": false, "db.t.insertOne({a:1})": false, "db.t.aggregate([{$out:'x'}])": false,
		"db.t.find().forEach(d => db.u.save(d))": false, "db.runCommand({drop:'t'})": false, "print(1); x()": false, "db.t.find.constructor('x')()": false, "x = db.t.drop": false,
	} {
		if got := AllRead(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
