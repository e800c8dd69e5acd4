package skeleton

import "testing"

// TestFurtherLanguagesAreReadByTheirOwnAssertions: an honest file of each is taken,
// and one that asserts nothing, or runs nothing, is not.
func TestFurtherLanguagesAreReadByTheirOwnAssertions(t *testing.T) {
	for _, c := range []struct{ path, content, problem string }{
		{"t/cart.t", "use Test::More tests => 1;\nuse Cart;\nis(Cart::total(1, 2), 3, 'adds');\n", ""},
		{"t/cart.t", "use Test::More;\nok Cart::total(1, 2) == 3;\ndone_testing;\n", ""},
		{"t/cart.t", "use Test::More tests => 1;\nok(1);\nis(3, 3);\n", AlwaysTrue},
		{"t/cart.t", "use Test::More tests => 1;\n# is(Cart::total(1, 2), 3);\n", NoAssertion},
		{"t/cart.t", "use Test::More skip_all => 'later';\nis(Cart::total(1, 2), 3);\n", NoTestFunction},
		{"lib/cart.t", "is(f(1), 2);\n", WrongPlace},
		{"tests/testthat/test-cart.R", "test_that('adds', {\n  expect_equal(total(c(1, 2)), 3)\n})\n", ""},
		{"tests/testthat/test-cart.R", "test_that('adds', {\n  expect_true(TRUE)\n  expect_equal(3, 3)\n})\n", AlwaysTrue},
		{"tests/testthat/test-cart.R", "test_that('adds', {\n  skip('later')\n  expect_equal(total(1), 3)\n})\n", NoTestFunction},
		{"test/runtests.jl", "using Test, Shop\n@testset \"cart\" begin\n    @test total([1, 2]) == 3\nend\n", ""},
		{"test/runtests.jl", "using Test, Shop\n@testset \"cart\" begin\n    @test_throws DomainError total([-1])\nend\n", ""},
		{"test/runtests.jl", "using Test\n@testset \"cart\" begin\n    @test true\n    @test 3 == 3\nend\n", AlwaysTrue},
		{"test/runtests.jl", "using Test\n@testset \"cart\" begin\n    # @test total(1) == 3\n    @test_skip total(1) == 3\nend\n", NoAssertion},
		{"test/cart_test.clj", "(ns cart-test (:require [clojure.test :refer [deftest is]] [cart :refer [total]]))\n(deftest adds\n  (is (= 3 (total [1 2]))))\n", ""},
		{"test/cart_test.cljc", "(deftest adds\n  (is (= 3 3))\n  (is true))\n", AlwaysTrue},
		{"test/cart_test.clj", "(deftest adds\n  ; (is (= 3 (total [1 2])))\n  )\n", NoAssertion},
		{"test/cart_tests.erl", "-module(cart_tests).\n-include_lib(\"eunit/include/eunit.hrl\").\ntotal_test() ->\n    ?assertEqual(3, cart:total([1, 2])).\n", ""},
		{"test/cart_tests.erl", "total_test() ->\n    ?assertEqual(3, 3),\n    ?assert(true).\n", AlwaysTrue},
		{"test/cart_tests.erl", "total_test() ->\n    % ?assertEqual(3, cart:total([1])),\n    ok.\n", NoAssertion},
		{"test/CartSpec.hs", "spec :: Spec\nspec = describe \"total\" $\n  it \"adds\" $\n    total [1, 2] `shouldBe` 3\n", ""},
		{"test/CartTest.hs", "testTotal = TestCase (assertEqual \"adds\" 3 (total [1, 2]))\n", ""},
		{"test/CartSpec.hs", "spec = it \"adds\" $\n    3 `shouldBe` 3\n", AlwaysTrue},
		{"test/CartSpec.hs", "spec = it \"adds\" $ do\n    {- total [1] `shouldBe` 3 -}\n    -- total [1] `shouldBe` 3\n    pure ()\n", NoAssertion},
		{"test/CartSpec.hs", "spec = xit \"adds\" $\n    total [1] `shouldBe` 3\n", NoTestFunction},
		{"contracts/test/Cart.t.sol", "contract CartTest is Test {\n    function testAdds() public {\n        assertEq(new Cart().total(1, 2), 3);\n    }\n}\n", ""},
		{"contracts/test/Cart.t.sol", "contract CartTest is Test {\n    function testAdds() public {\n        assertTrue(true);\n        // assertEq(cart.total(1, 2), 3);\n    }\n}\n", AlwaysTrue},
	} {
		if p := Validate(c.path, []byte(c.content)); p.Code != c.problem {
			t.Errorf("%s: %q, want %q\n%s", c.path, p.Code, c.problem, c.content)
		}
	}
}
