// Adds a reading to its hour's bucket, and keeps the bucket's sums right: one transaction under the key of device and day.
function addReading(device, day, hour, value) {
  const items = getContext().getCollection();
  const link = items.getAltLink();
  const id = String(hour).padStart(2, "0");
  items.readDocument(link + "/docs/" + id, (error, found) => {
    const fresh = { id, deviceDay: device + "-" + day, device, day, hour, count: 0, sum: 0, max: value, values: [] };
    if (error && error.number !== 404) throw error;
    const bucket = error ? fresh : found;
    bucket.count += 1;
    bucket.sum += value;
    bucket.max = Math.max(bucket.max, value);
    bucket.values.push(value);
    items.upsertDocument(link, bucket, (failed) => {
      if (failed) throw failed;
      getContext().getResponse().setBody({ count: bucket.count, average: bucket.sum / bucket.count });
    });
  });
}
