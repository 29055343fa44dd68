import { defineFaults } from '#lib/fault'

export const engineFault = defineFaults({
  MALFORMED_PAYLOAD: {
    severity: 'fatal',
    says: (d: { what: string; key: string; reason: string }) => `${d.what}: ${d.key}: ${d.reason}`,
    fix: 'check that the file or client gives Engine API payloads',
  },
  UNKNOWN_PARENT: {
    severity: 'reset',
    says: (d: { hash: string; number: number }) => `block ${d.number} ${d.hash}, to build on, is not known to the execution half`,
    fix: 'nothing: what is missing is fetched or derived again from a block that is known',
  },
  INVALID_FORKCHOICE: {
    severity: 'reset',
    says: (d: { label: string; hash: string; reason: string }) => `${d.label} head ${d.hash} is refused: ${d.reason}`,
    fix: 'nothing: derivation starts again from heads that are known',
  },
})
