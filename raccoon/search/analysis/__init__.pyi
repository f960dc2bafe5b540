from raccoon.search.analysis.answers import analyse as analyse
from raccoon.search.analysis.questions import Question as Question
from raccoon.search.analysis.questions import read_question as read_question
