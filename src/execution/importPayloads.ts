import { l2RefOf } from '#chain/l2Ref'
import { parsePayload } from '#engine/payloadJson'
import { parseHash } from '#types/ids'
import type { Payload } from '#types/payload'
import type { Execution } from './execution.ts'
import type { ExecutionConfig } from './executionConfig.ts'
import { executionFault } from './faults.ts'

/** What an import did; blocks that were there already count as skipped. Gas is that of the imported blocks. */
export type ImportResult = { readonly imported: number; readonly skipped: number; readonly gas: bigint }

/**
 * One line of a payload file: `{"p": execution payload, "root": parent beacon block root}`.
 * @param number of the line, for the message
 * @throws Fault MALFORMED_PAYLOAD, BAD_LINE (fatal)
 */
function parseLine(line: string, number: number): Payload {
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch (cause) {
    throw executionFault('BAD_LINE', { line: number, reason: 'not JSON' }, cause)
  }
  if (typeof json !== 'object' || json === null || !('p' in json))
    throw executionFault('BAD_LINE', { line: number, reason: 'no payload (p)' })
  const root = 'root' in json && typeof json.root === 'string' ? parseHash(json.root) : undefined
  return parsePayload(json.p, root)
}

/**
 * Validates payloads one after another and makes each the unsafe head; safe and finalized stay. Each block is one commit, so an import that
 * was cut off goes on where it stopped when it is given the same file again.
 * @param onBlock told of each payload after its commit
 * @throws Fault INVALID_BLOCK, MALFORMED_PAYLOAD, BAD_LINE (fatal), UNKNOWN_PARENT (reset), UNSUPPORTED_FORK (fatal)
 */
export async function importPayloads(
  execution: Execution,
  config: ExecutionConfig,
  lines: Iterable<string> | AsyncIterable<string>,
  onBlock?: (payload: Payload) => void,
): Promise<ImportResult> {
  let [imported, skipped, gas, number] = [0, 0, 0n, 0]
  for await (const line of lines) {
    number++
    if (line.trim() === '') continue
    const payload = parseLine(line, number)
    if (isCanonical(execution, payload)) {
      skipped++
      continue
    }
    const result = execution.insertPayload(payload)
    if (result.kind === 'invalid') throw executionFault('INVALID_BLOCK', { number: payload.blockNumber, reason: result.reason })
    await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
    imported++
    gas += payload.gasUsed
    onBlock?.(payload)
  }
  return { imported, skipped, gas }
}

function isCanonical(execution: Execution, payload: Payload): boolean {
  using view = execution.view()
  return view.canonicalHash(payload.blockNumber) === payload.blockHash
}
