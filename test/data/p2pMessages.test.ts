import { describe, expect, it } from 'vitest'
import { checkMessage, checkRequest } from '#test/harness/p2p/checkRecording'
import { peerRecordingOf } from '#test/harness/p2p/recordings'
import { readShared, readSharedJson } from '#test/harness/sharedData'

const clients = ['op-node-1.19.6', 'op-node-2024', 'base-consensus'] as const

describe.each(clients)('%s', (client) => {
  const messages = readShared(`p2p/${client}/gossip.jsonl.zst`)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  const node = readSharedJson<Record<string, unknown>>(`p2p/${client}/node.json`)
  const recording = peerRecordingOf(client, { ...node, messages, requests: readSharedJson(`p2p/${client}/requests.json`) })

  it('p2p/protocol: reads every recorded message, computes its id, recovers its signer, and encodes the same body', () => {
    expect(recording.messages.length).toBeGreaterThan(30)
    for (const message of recording.messages) checkMessage(recording, message)
  })

  it('p2p/protocol: reads every recorded response of payload_by_number', () => {
    for (const request of recording.requests) checkRequest(recording, request)
  })
})
