import { defineFaults } from '#lib/fault'

/** Paths of beacon API requests that are named by one word. */
const beaconPaths: Readonly<Record<string, string>> = { genesis: '/eth/v1/beacon/genesis', config: '/eth/v1/config/spec' }

/** Returns the request as an operator can repeat it by hand. */
const shownAsked = (asked: string): string => (Object.hasOwn(beaconPaths, asked) ? `beacon API ${beaconPaths[asked]}` : asked)

export const l1Fault = defineFaults({
  L1_UNREACHABLE: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) => `${d.endpoint} does not answer ${shownAsked(d.asked)}: ${d.reason}`,
    fix: 'check that the endpoint runs and is reachable; configure more than one: --l1.rpc=URL,URL and --l1.beacon=URL,URL',
  },
  L1_RATE_LIMITED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; retryAfterMs: number }) =>
      `${d.endpoint} limits requests (${shownAsked(d.asked)}); next request in ${Math.ceil(d.retryAfterMs / 1000)} s`,
    fix: 'raise the quota at the provider, or add an endpoint: --l1.rpc=URL,URL',
  },
  L1_REFUSED: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; status: number }) => `${d.endpoint} refuses ${shownAsked(d.asked)} with HTTP ${d.status}`,
    fix: 'check the key or password in the URL of the endpoint',
  },
  L1_RPC_ERROR: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; code: number; isUnknownBlock: boolean }) =>
      `${d.endpoint} answers ${d.asked} with error ${d.code}${d.isUnknownBlock ? ': it does not know the block' : ''}`,
    fix: 'use an endpoint that serves full blocks and eth_getBlockReceipts for the whole range',
  },
  L1_BAD_ANSWER: {
    severity: 'retry',
    says: (d: { endpoint: string; asked: string; reason: string }) =>
      `${d.endpoint} sends an invalid response to ${shownAsked(d.asked)}: ${d.reason}`,
    fix: 'check that the URL is an L1 JSON-RPC (--l1.rpc) or beacon API (--l1.beacon) endpoint; use another endpoint',
  },
  L1_BLOCK_MISMATCH: {
    severity: 'retry',
    says: (d: { endpoint: string; block: number | string; what: string; expected: string; computed: string }) =>
      `${d.endpoint} returns L1 block ${d.block} with ${d.what} ${d.computed}, expected ${d.expected}`,
    fix: 'use another endpoint; this one confuses blocks or serves wrong data',
  },
  L1_WRONG_CHAIN: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string; expected: string; found: string }) =>
      `${d.endpoint} serves another L1: its ${d.what} is ${d.found}, the rollup's is ${d.expected}`,
    fix: 'configure an endpoint of the right chain: --l1.rpc=URL',
  },
  L1_WRONG_BEACON: {
    severity: 'fatal',
    says: (d: { endpoint: string; what: string; expected: string; found: string }) =>
      `${d.endpoint} serves another beacon chain: its ${d.what} is ${d.found}, that of the rollup's L1 is ${d.expected}`,
    fix: 'configure a beacon endpoint of the right chain: --l1.beacon=URL',
  },
  L1_NO_BEACON: {
    severity: 'fatal',
    says: (d: { block: number }) => `L1 block ${d.block} refers to blobs, but no beacon endpoint is configured`,
    fix: 'configure a beacon API endpoint: --l1.beacon=URL',
  },
  BLOB_UNAVAILABLE: {
    severity: 'retry',
    says: (d: { endpoint: string; slot: number; missing: number; asked: number }) =>
      `${d.endpoint} lacks ${d.missing} of ${d.asked} blobs of slot ${d.slot}`,
    fix: 'add an endpoint that keeps old blobs: --l1.beacon=URL,URL',
  },
  BLOB_NOT_YET: {
    severity: 'retry',
    says: (d: { block: number; ageSec: number }) => `no beacon endpoint has the blobs of L1 block ${d.block}, which is ${d.ageSec} s old`,
    fix: 'wait until the beacon node has imported the slot; when it stays, check that it is synced, or add an endpoint: --l1.beacon=URL,URL',
  },
  BLOB_UNCHECKED: {
    severity: 'retry',
    says: (d: { reason: string }) => `blobs could not be verified: ${d.reason}`,
    fix: 'nothing, the check is retried; if the fault repeats, check for a lack of memory',
  },
  BLOB_MISMATCH: {
    severity: 'retry',
    says: (d: { endpoint: string; slot: number; reason: string }) => `${d.endpoint} returns a wrong blob for slot ${d.slot}: ${d.reason}`,
    fix: 'use another beacon endpoint; this one serves wrong data',
  },
})
