"""What a job does when a rule fires, as the parameter `action_json` of the rule has it."""

from __future__ import annotations

import json
import re

_JOB_PREFIX = re.compile(r"[A-Za-z0-9\-]+")
_EMAIL = re.compile(r"[a-z0-9]+@\w+[.]\w{2,3}")
_PHONE = re.compile(r"\+\d{1,15}")


def _check(name: str, value: object, pattern: re.Pattern[str], allowed: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}")


class Action:
    """One action: its name, which is that of its class, and its parameters.

    Parameters that are None are left out.
    """

    def __init__(self, **action_parameters: str | None) -> None:
        named = {**action_parameters, "name": type(self).__name__.lower()}
        self.action_parameters = {key: value for key, value in named.items() if value is not None}
        for key, value in self.action_parameters.items():
            if json.dumps(value, ensure_ascii=False) != f'"{value}"':
                raise ValueError(f"{key} is {value!r}; allowed: strings that JSON need not escape")

    def serialize(self) -> str:
        """The parameters as JSON, with a backslash before each quotation mark."""
        return json.dumps(self.action_parameters, ensure_ascii=False).replace('"', '\\"')

    def update_training_job_prefix_if_not_specified(self, training_job_name: str) -> None:
        """Lets an action that stops a job, and was not told which, stop this one."""
        del training_job_name


class StopTraining(Action):
    """Stops the job whose name begins with a prefix, if there is exactly one."""

    def __init__(self, training_job_prefix: str | None = None) -> None:
        self.use_default_training_job_prefix = training_job_prefix is None
        if training_job_prefix is not None:
            _check(
                "training_job_prefix",
                training_job_prefix,
                _JOB_PREFIX,
                "letters of ASCII, digits and hyphens, at least one",
            )
        super().__init__(training_job_prefix=training_job_prefix)

    def update_training_job_prefix_if_not_specified(self, training_job_name: str) -> None:
        """Stops this job, unless a prefix was given when the action was made."""
        if self.use_default_training_job_prefix:
            self.action_parameters["training_job_prefix"] = training_job_name


class Email(Action):
    """Sends a mail."""

    def __init__(self, email_address: str) -> None:
        _check("email_address", email_address, _EMAIL, "an address such as name@domain.com")
        super().__init__(endpoint=email_address)


class SMS(Action):
    """Sends a text message to a phone."""

    def __init__(self, phone_number: str) -> None:
        _check("phone_number", phone_number, _PHONE, "a + and 1 to 15 digits (E.164)")
        super().__init__(endpoint=phone_number)


class ActionList:
    """Several actions, done in their order."""

    def __init__(self, *actions: Action) -> None:
        for action in actions:
            if not isinstance(action, Action):
                raise TypeError(f"{action!r} is not an action; allowed: StopTraining, Email, SMS")
        self.actions = actions

    def update_training_job_prefix_if_not_specified(self, training_job_name: str) -> None:
        """Does so for each action."""
        for action in self.actions:
            action.update_training_job_prefix_if_not_specified(training_job_name)

    def serialize(self) -> str:
        """The actions as a list in JSON, with a backslash before each quotation mark."""
        return f"[{', '.join(action.serialize() for action in self.actions)}]"


def is_valid_action_object(actions: object) -> bool:
    """Whether `actions` is an action or a list of them."""
    return isinstance(actions, (Action, ActionList))
