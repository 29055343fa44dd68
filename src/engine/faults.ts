import { defineFaults } from '#lib/fault'

export const engineFault = defineFaults({
  MALFORMED_PAYLOAD: {
    severity: 'fatal',
    says: (d: { what: string; key: string; reason: string }) => `${d.what}: ${d.key}: ${d.reason}`,
    fix: 'check that the file or client gives Engine API payloads',
  },
})
