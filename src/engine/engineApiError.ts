/** Error whose code and text are returned to the caller of the Engine API. @see execution-apis, engine/common.md, "Errors" */
export class EngineApiError extends Error {
  readonly code: number

  constructor(code: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EngineApiError'
    this.code = code
  }
}

/** Errors of the Engine API with the texts of the specification, for server and client. */
export const engineApiErrors = {
  invalidParams: { code: -32_602, text: 'Invalid params' },
  server: { code: -32_000, text: 'Server error' },
  /** not of the specification: the payload takes too long here, it may be valid */
  notExecuted: { code: -32_050, text: 'Payload not executed' },
  unknownPayload: { code: -38_001, text: 'Unknown payload' },
  invalidForkchoice: { code: -38_002, text: 'Invalid forkchoice state' },
  invalidAttributes: { code: -38_003, text: 'Invalid payload attributes' },
  tooLarge: { code: -38_004, text: 'Too large request' },
  unsupportedFork: { code: -38_005, text: 'Unsupported fork' },
} as const

/** Creates the error of a kind. Its text is the specification's, followed by the reason. */
export function engineApiError(kind: keyof typeof engineApiErrors, reason?: string, cause?: unknown): EngineApiError {
  const { code, text } = engineApiErrors[kind]
  return new EngineApiError(code, reason === undefined ? text : `${text}: ${reason}`, cause)
}
