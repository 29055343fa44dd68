/** Parses a message of a WebSocket. Returns undefined when it is not JSON. */
export function parseMessage(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return undefined
  }
}
