"""Check the answer to the exercise of Control flow in graphs."""
from mxnet import np
from mxnet.gluon import nn

from d2lhelpers.examine import Exam
from d2lhelpers.exercises import check


def last_rows(matrices):
    """Return the last row of each matrix, found imperatively, and of each again, found by one graph."""
    return 2 * [matrix[-1] for matrix in matrices]


def rows_found(function, matrices):
    """Return the same as `last_rows`, but by an answer, whose graph is traced with the first matrix."""
    if function is last_rows:
        return function(matrices)
    layer = nn.HybridLambda(function)
    imperative = [layer(matrix) for matrix in matrices]
    layer.hybridize()
    return imperative + [layer(matrix) for matrix in matrices]


def some_matrices(random):
    """Yield lists of matrices of one width, negative numbers among them."""
    for width, counts in (1, (1, 2)), (3, (3, 1, 2)), (7, (2, 9, 1)), (4, (5, 12, 3)):
        yield ([np.array(random.normal(size=(rows, width)) * 100) for rows in counts],)



def check_1(answer):
    """Check a function that returns the last row of a matrix, imperatively and in one graph for any number of rows."""
    def matrix(rows):
        values = np.random.uniform(size=(rows, 4))
        values[-1, 0] = -1  # no last row has all the largest values
        return values

    def compiled():
        layer = nn.HybridLambda(answer)
        layer.hybridize()
        layer(matrix(3))  # traces
        return layer

    def right(layer, data):
        return layer(data).tolist() == data[-1].tolist()

    def shape(layer, rows):
        return layer(matrix(rows)).shape

    return check(
        answer,
        ("no-function", callable, "give a function of F and x: its name alone"),
        ("matrix-of-one-row", lambda a: shape(nn.HybridLambda(a), 3) != (1, 4),
         "imperatively, that is a matrix of one row, not a row"),
        ("other-shape", lambda a: shape(nn.HybridLambda(a), 3) == (4,),
         "imperatively, three rows of four numbers give four numbers"),
        ("other-row", lambda a: right(nn.HybridLambda(a), matrix(3)),
         "imperatively, that is not the last of three rows"),
        ("three-rows-alone", lambda a: right(nn.HybridLambda(a), matrix(2)) and right(nn.HybridLambda(a), matrix(5)),
         "imperatively, it is right for three rows alone"),
        ("compiling-fails", lambda a: compiled(), "imperatively it is right, but it fails when it is compiled"),
        ("compiled-other-shape", lambda a: shape(compiled(), 3) == (4,),
         "compiled, it returns more or less than a row of four numbers"),
        ("compiled-other-row", lambda a: right(compiled(), matrix(3)), "compiled, that is not the last row"),
        ("rows-are-constant", lambda a: right(compiled(), matrix(5)),
         "traced with three rows it is right for three; with five it is not"),
        ("one-row-wrong", lambda a: right(compiled(), matrix(1)),
         "traced with three rows it is right for more; with one it is not"),
        *Exam(last_rows, some_matrices, rows_found).rules(),
    )
