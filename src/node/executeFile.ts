import { executeStateless, type StatelessResult } from '#block/stateless'
import { createWasmEvm } from '#evm/wasmEvm'

/**
 * Executes the block of a stateless block file.
 * @throws Fault MALFORMED_PAYLOAD, INVALID_CONFIG, WITNESS_INVALID, WITNESS_INCOMPLETE, INVALID_BLOCK (all fatal)
 */
export function executeFile(json: unknown): StatelessResult {
  return executeStateless(createWasmEvm(), json)
}
