/** What Gemini 3 accepts as the signature of a call that it did not make itself. */
export const foreignSignature = "skip_thought_signature_validator";
