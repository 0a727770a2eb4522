"""Compile a module for a bundle: without what only people and type checkers read."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType


def compile_bare(source: bytes, path: str) -> CodeType:
    """Return the code of a module without docstrings, annotations of functions and imports for type checkers.

    Together they are a fifth of what a command would load. Lines keep their numbers, and classes the names in
    their annotations, of which records are made: at once, where the decorator would make a second class of the first.
    """
    tree = ast.fix_missing_locations(_Bare().visit(ast.parse(source, path)))
    code: CodeType = compile(tree, path, "exec", dont_inherit=True, optimize=2)
    return code


class _Bare(ast.NodeTransformer):
    """Takes annotations out; each method is named for the node that it is given."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """Drop what says how annotations are compiled."""
        return None if node.module == "__future__" else node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Have a record made by its class statement."""
        self.generic_visit(node)
        if [ast.unparse(decorator) for decorator in node.decorator_list] == ["record"]:
            node.decorator_list = []
            node.keywords.append(ast.keyword("metaclass", ast.parse("record.at_once", mode="eval").body))
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        """Keep of a guard for type checkers what is meant for everybody else."""
        self.generic_visit(node)
        is_guard = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node.orelse if is_guard else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Drop the annotations of a function."""
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Drop the annotation of a parameter."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Keep that something is annotated, and not with what."""
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)
