/**
 * Answers pings, of those that come before an answer is on its way the newest alone: a client that pings and does not read holds no more than
 * that. The server must have `autoPong` off.
 * @see RFC 6455, section 5.5.3
 */
export function answerPings(socket: {
  on(event: 'ping', listener: (data: Buffer) => void): unknown
  pong(data: Buffer, isMasked: boolean, sent: (error?: Error) => void): void
}): void {
  let isSending = false
  let newest: Buffer | undefined
  const answer = (data: Buffer): void => {
    if (isSending) {
      newest = data
      return
    }
    isSending = true
    socket.pong(data, false, (error) => {
      isSending = false
      const next = newest
      newest = undefined
      if (next !== undefined && !error) answer(next)
    })
  }
  socket.on('ping', answer)
}
