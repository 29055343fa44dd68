/** Error whose code and text are returned to the caller of the Engine API. @see execution-apis, engine/common.md, "Errors" */
export class EngineApiError extends Error {
  readonly code: number

  constructor(code: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EngineApiError'
    this.code = code
  }
}

/** Error codes of the Engine API, for server and client. */
export const engineApiCodes = {
  invalidParams: -32_602,
  server: -32_000,
  /** not of the specification: the payload takes too long here, it may be valid */
  notExecuted: -32_050,
  unknownPayload: -38_001,
  invalidForkchoice: -38_002,
  invalidAttributes: -38_003,
  tooLarge: -38_004,
  unsupportedFork: -38_005,
} as const

const texts: Readonly<Record<keyof typeof engineApiCodes, string>> = {
  invalidParams: 'Invalid params',
  server: 'Server error',
  notExecuted: 'Payload not executed',
  unknownPayload: 'Unknown payload',
  invalidForkchoice: 'Invalid forkchoice state',
  invalidAttributes: 'Invalid payload attributes',
  tooLarge: 'Too large request',
  unsupportedFork: 'Unsupported fork',
}

/** Creates the error of a kind. Its text is the specification's, followed by the reason. */
export function engineApiError(kind: keyof typeof engineApiCodes, reason?: string, cause?: unknown): EngineApiError {
  return new EngineApiError(engineApiCodes[kind], reason === undefined ? texts[kind] : `${texts[kind]}: ${reason}`, cause)
}
