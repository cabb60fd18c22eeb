import pytest

from skillweave.select.questions import Question, question_in


@pytest.mark.parametrize(
    "text",
    [
        "What can you do?",
        "what can you do for me",
        "Hi! What can you do?",
        "hey, what can you help me with?",
        "Which skills do you have",
        "what skills are available?",
        "What are your capabilities?",
        "show me your skills",
        "list all skills please",
        "Can you list your capabilities?",
        "tell me what you can do",
        "How can you help us?",
        "do you have any skills?",
        "I am new here. What can you do?",
    ],
)
def test_a_question_about_the_agents_abilities_is_recognised(text: str) -> None:
    assert question_in(text) is Question.CAPABILITIES


@pytest.mark.parametrize(
    "text",
    [
        "show all skills",
        "Show me all the skills please!",
        "could you show me all of your skills?",
        "display every skill",
        "print the full documentation of all skills",
    ],
)
def test_a_request_for_all_skills_is_recognised(text: str) -> None:
    assert question_in(text) is Question.ALL_SKILLS


@pytest.mark.parametrize(
    "text",
    [
        "What can our team do",
        "What can you do about this bug?",
        "What can you do to speed up this query?",
        "list the skills in this CV",
        "which skills do I need to become a data engineer?",
        "what skills does a nurse need",
        "show all files",
        "show all skills of the applicants in a table",
        "list the functions",
        "what features does the new phone have?",
        "Can you do that?",
        "how can you tell a crow from a raven",
        "",
        "\ud800",
    ],
)
def test_any_other_message_is_no_such_question(text: str) -> None:
    assert question_in(text) is None


def test_a_long_message_is_no_such_question() -> None:
    assert question_in("What can you do? " + "x" * 300) is None


@pytest.mark.parametrize(
    "text",
    [
        "Which skills do you have for marketing?",
        "which skills for marketing",
        "Do you have any skills about kubernetes clusters?",
        "show me skills for testing",
        "What can you do with spreadsheets?",
        "are there any skills on tax law",
    ],
)
def test_a_question_about_the_skills_for_a_subject_is_one(text: str) -> None:
    assert question_in(text) is Question.ABOUT


@pytest.mark.parametrize(
    "text",
    [
        "Was kannst du?",
        "¿Qué puedes hacer?",
        "que peux-tu faire ?",
        "何ができますか？",
        "你能做什么？",
        "आप क्या कर सकते हैं?",
    ],
)
def test_what_can_you_do_is_understood_in_other_languages(text: str) -> None:
    assert question_in(text) is Question.CAPABILITIES


@pytest.mark.parametrize(
    "text",
    [
        "Which skills for a marketing job should I put into my CV, given that I have never worked in an agency before?",
        "what can you do about it",
        "any skills needed",
    ],
)
def test_a_sentence_about_somebodys_skills_is_none(text: str) -> None:
    assert question_in(text) is None
