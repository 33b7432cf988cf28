# SPDX-License-Identifier: Apache-2.0 OR MIT
"""dray.xp beside array-api-strict, on the host.

DRAY_ARRAYAPI_EXAMPLES: cases of each function; tools/check --full runs more.
"""
import os

import array_api_strict
import hypothesis

EXAMPLES = os.environ.get("DRAY_ARRAYAPI_EXAMPLES")

array_api_strict.set_array_api_strict_flags(api_version="2025.12")
hypothesis.settings.register_profile(
    "dray", max_examples=int(EXAMPLES or 12), deadline=None,
    derandomize=not EXAMPLES, database=None,
    suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("dray")

